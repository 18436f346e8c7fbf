//! What must hold for browsers that notifications are pushed to.

use super::{Ending, Medium};
use crate::model::{HappeningKind, Timestamp};
use crate::store::{NewBrowser, Store, StoredLogin};

fn browser(endpoint: &str, login: Option<&str>) -> NewBrowser {
    NewBrowser {
        endpoint: endpoint.to_owned(),
        public_key: "key".to_owned(),
        secret: "secret".to_owned(),
        events: [HappeningKind::NeedsYou, HappeningKind::Failed].into(),
        name: "Firefox on Linux".to_owned(),
        login: login.map(str::to_owned),
        added_at: Timestamp::from_millis(1),
    }
}

async fn numbers(store: &Store, now: i64) -> Vec<u64> {
    let browsers = store.browsers(Timestamp::from_millis(now)).await.expect("read");
    browsers.into_iter().map(|stored| stored.id).collect()
}

pub(super) async fn a_browser_is_there_until_it_is_removed(medium: &Medium) {
    let store = medium.open();
    let first = store.add_browser(browser("https://push.example/1", None)).await.expect("added");
    let second = store.add_browser(browser("https://push.example/2", None)).await.expect("added");
    let renewed = NewBrowser { secret: "new".to_owned(), ..browser("https://push.example/1", None) };
    assert_eq!(store.add_browser(renewed.clone()).await.expect("added"), first, "the endpoint is the browser");
    let store = medium.restart(store, Ending::PowerCut).await;
    let all = store.browsers(Timestamp::from_millis(1)).await.expect("read");
    assert_eq!(all.iter().map(|stored| stored.id).collect::<Vec<_>>(), [first, second]);
    assert_eq!(all[0].browser, renewed);
    assert!(store.remove_browser(second).await.expect("removed"));
    assert!(!store.remove_browser(second).await.expect("answered"));
    let store = medium.restart(store, Ending::PowerCut).await;
    let third = store.add_browser(browser("https://push.example/2", None)).await.expect("added");
    assert!(third > second, "a number is not given again");
    assert_eq!(numbers(&store, 1).await, [first, third]);
    store.close().await;
}

pub(super) async fn a_browser_is_gone_with_its_login(medium: &Medium) {
    let store = medium.open();
    let login = StoredLogin {
        cookie_hash: "cookie".to_owned(),
        secret_hash: "hash".to_owned(),
        expires_at: Timestamp::from_millis(10),
    };
    store.add_login(login, Timestamp::from_millis(1)).await.expect("added");
    let of_login = store.add_browser(browser("https://push.example/1", Some("cookie"))).await.expect("added");
    let open = store.add_browser(browser("https://push.example/2", None)).await.expect("added");
    store.add_browser(browser("https://push.example/3", Some("unknown"))).await.expect("added");
    assert_eq!(numbers(&store, 9).await, [of_login, open]);
    assert_eq!(numbers(&store, 10).await, [open], "the login has expired");
    store.remove_logged_out_browsers(Timestamp::from_millis(10)).await.expect("removed");
    assert_eq!(numbers(&store, 9).await, [open]);
    store.close().await;
}
