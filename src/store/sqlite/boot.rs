//! Which boot of the machine this is: after a power cut the last commits may be missing, after a mere crash of the
//! process they are not. The difference decides whether numbers must jump.

/// An id that changes with every boot; empty where the system has none that we can read, which counts as a power cut
/// (numbers then jump once more often than needed, which is harmless).
pub(super) fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|text| text.trim().to_owned()).unwrap_or_default()
}
