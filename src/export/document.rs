//! An export in progress: reads the log page by page and returns the document piece by piece.

use std::str::FromStr;

use bytes::Bytes;
use serde_json::Value;

use super::archive::{Archive, TooLarge};
use super::json;
use super::markdown::{MarkdownWriter, SessionHead, file_name};
use crate::model::Seq;
use crate::store::{BlobUse, EventPage, Store, StoreError};

/// Events and bytes of them that are in memory at a time.
const EVENTS: usize = 1_000;
const BYTES: usize = 512 * 1024;

/// What a document looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// For people. Images and long outputs are links to files beside it.
    Markdown,
    /// Markdown and these files, as a ZIP archive.
    MarkdownArchive,
    /// Everything, for programs.
    Json,
}

impl ExportFormat {
    /// All of them, by their names in the API.
    pub const ALL: [(&'static str, Self); 3] =
        [("md", Self::Markdown), ("md.zip", Self::MarkdownArchive), ("json", Self::Json)];

    /// How a file of it ends.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::MarkdownArchive => "zip",
            Self::Json => "json",
        }
    }

    /// Its media type.
    pub fn mime(self) -> &'static str {
        match self {
            Self::Markdown => "text/markdown; charset=utf-8",
            Self::MarkdownArchive => "application/zip",
            Self::Json => "application/json",
        }
    }
}

impl FromStr for ExportFormat {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.iter().find(|(name, _)| *name == text).map(|(_, format)| *format).ok_or(())
    }
}

/// Why an export ended early.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The store failed.
    #[error("the session could not be read")]
    Store(#[from] StoreError),
    /// The archive is too large.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// The session was deleted meanwhile.
    #[error("the session was deleted while it was being exported")]
    Deleted,
}

/// A document that is being written.
pub struct Export {
    store: Store,
    head: SessionHead,
    /// The session as JSON.
    details: Value,
    format: ExportFormat,
    /// The last event that belongs to it.
    last: Seq,
    stage: Stage,
    writer: MarkdownWriter,
    archive: Archive,
}

enum Stage {
    Head,
    Events { after: Seq, is_first: bool },
    Blobs { left: Vec<BlobUse>, is_first: bool },
    End,
    Over,
}

impl Export {
    /// An export of a session up to the event `last`.
    pub fn new(store: Store, head: SessionHead, details: Value, last: Seq, format: ExportFormat) -> Self {
        Self {
            store,
            head,
            details,
            format,
            last,
            stage: Stage::Head,
            writer: MarkdownWriter::default(),
            archive: Archive::default(),
        }
    }

    /// The next piece of the document; `None` when it is complete.
    pub async fn next_piece(&mut self) -> Result<Option<Bytes>, ExportError> {
        let mut text = String::new();
        let mut raw = Vec::new();
        self.stage = match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Head => {
                match self.format {
                    ExportFormat::Json => json::head(&mut text, &self.details, self.head.exported_at),
                    _ => MarkdownWriter::head(&mut text, &self.head),
                }
                if self.format == ExportFormat::MarkdownArchive {
                    self.archive.begin(&mut raw, &format!("{}.md", self.head.id));
                }
                Stage::Events { after: 0, is_first: true }
            }
            Stage::Events { after, is_first } => self.write_events(&mut text, after, is_first).await?,
            Stage::Blobs { left, is_first } => return self.write_blob(left, is_first).await.map(Some),
            Stage::End => {
                match self.format {
                    ExportFormat::Json => json::end(&mut text),
                    ExportFormat::MarkdownArchive => self.archive.finish(&mut raw)?,
                    ExportFormat::Markdown => {}
                }
                Stage::Over
            }
            Stage::Over => return Ok(None),
        };
        if self.format == ExportFormat::MarkdownArchive && !matches!(self.stage, Stage::Over) {
            self.archive.write(&mut raw, text.as_bytes())?;
            if matches!(self.stage, Stage::Blobs { .. }) {
                self.archive.end(&mut raw);
            }
            return Ok(Some(raw.into()));
        }
        raw.extend_from_slice(text.as_bytes());
        Ok(Some(raw.into()))
    }

    async fn write_events(&mut self, text: &mut String, after: Seq, is_first: bool) -> Result<Stage, ExportError> {
        let page = EventPage { after, before: None, limit: EVENTS, max_bytes: BYTES };
        let (events, more) = self.store.events(self.head.id, page).await?;
        let mut is_first = is_first;
        let mut position = after;
        for event in events.iter().take_while(|event| event.seq <= self.last) {
            match self.format {
                ExportFormat::Json => json::event(text, event, is_first),
                _ => self.writer.event(text, event),
            }
            (is_first, position) = (false, event.seq);
        }
        if more && position < self.last {
            return Ok(Stage::Events { after: position, is_first });
        }
        // What is missing is either a delta of a block that has ended meanwhile, or everything.
        if self.store.session(self.head.id).await?.is_none() {
            return Err(ExportError::Deleted);
        }
        let left = match self.format {
            ExportFormat::Markdown => Vec::new(),
            _ => self.store.blobs_of(self.head.id).await?,
        };
        match self.format {
            ExportFormat::Json => json::blobs(text),
            _ => self.writer.end(text),
        }
        Ok(Stage::Blobs { left, is_first: true })
    }

    async fn write_blob(&mut self, mut left: Vec<BlobUse>, is_first: bool) -> Result<Bytes, ExportError> {
        let Some(BlobUse { hash, mime, .. }) = left.pop() else {
            self.stage = Stage::End;
            return Ok(Bytes::new());
        };
        let blob = match self.store.blob(self.head.id, hash.clone()).await {
            // The rest of the session is still worth having; the log says what is wrong with the blob.
            Err(StoreError::BlobDamaged { .. }) => None,
            read => read?,
        };
        self.stage = Stage::Blobs { left, is_first: is_first && blob.is_none() };
        let Some(blob) = blob else { return Ok(Bytes::new()) };
        if self.format == ExportFormat::Json {
            let mut text = String::new();
            json::blob(&mut text, &hash, &blob, is_first);
            return Ok(text.into());
        }
        let mut raw = Vec::with_capacity(blob.data.len() + 256);
        self.archive.file(&mut raw, &file_name(&hash, &mime), &blob.data)?;
        Ok(raw.into())
    }
}
