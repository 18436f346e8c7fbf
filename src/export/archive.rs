//! A ZIP archive that is written while its files are made, without compression.

/// Files and offsets beyond this need an extension of the format that is not written.
const LARGEST: u64 = 0xffff_fff0;
/// Names are UTF-8, and sizes may follow the content.
const FLAGS: u16 = 1 << 11;
const SIZE_FOLLOWS: u16 = 1 << 3;
/// 1 January 1980, the first day that the format knows.
const DATE: u16 = 0x21;

/// The archive would be larger than the format allows.
#[derive(Debug, thiserror::Error)]
#[error("the archive would be larger than 4 GB; export JSON instead")]
pub struct TooLarge;

#[derive(Default)]
pub(super) struct Archive {
    entries: Vec<Entry>,
    written: u64,
}

struct Entry {
    name: String,
    offset: u64,
    size: u64,
    checksum: crc32fast::Hasher,
    flags: u16,
}

impl Archive {
    /// Begins a file whose size is not known yet.
    pub fn begin(&mut self, out: &mut Vec<u8>, name: &str) {
        self.local_header(out, name, FLAGS | SIZE_FOLLOWS, None);
    }

    /// Adds to the file that was begun.
    pub fn write(&mut self, out: &mut Vec<u8>, data: &[u8]) -> Result<(), TooLarge> {
        if let Some(entry) = self.entries.last_mut() {
            entry.checksum.update(data);
            entry.size += data.len() as u64;
        }
        self.put(out, data);
        if self.written > LARGEST { Err(TooLarge) } else { Ok(()) }
    }

    /// Ends the file that was begun.
    pub fn end(&mut self, out: &mut Vec<u8>) {
        let Some(entry) = self.entries.last() else { return };
        let mut descriptor = Vec::with_capacity(16);
        descriptor.extend(0x0807_4b50_u32.to_le_bytes());
        descriptor.extend(entry.checksum().to_le_bytes());
        descriptor.extend(entry.size().to_le_bytes());
        descriptor.extend(entry.size().to_le_bytes());
        self.put(out, &descriptor);
    }

    /// Adds a whole file.
    pub fn file(&mut self, out: &mut Vec<u8>, name: &str, data: &[u8]) -> Result<(), TooLarge> {
        self.local_header(out, name, FLAGS, Some(data));
        self.write(out, data)
    }

    /// Writes the list of files.
    pub fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        let (start, count) = (self.written, u16::try_from(self.entries.len()).map_err(|_| TooLarge)?);
        for entry in std::mem::take(&mut self.entries) {
            let mut header = Vec::with_capacity(46 + entry.name.len());
            header.extend(0x0201_4b50_u32.to_le_bytes());
            // Made by and needed to read: 2.0.
            header.extend([20, 0, 20, 0]);
            header.extend(entry.flags.to_le_bytes());
            header.extend([0; 4]);
            header.extend(DATE.to_le_bytes());
            header.extend(entry.checksum().to_le_bytes());
            header.extend(entry.size().to_le_bytes());
            header.extend(entry.size().to_le_bytes());
            header.extend(name_length(&entry.name).to_le_bytes());
            header.extend([0; 12]);
            header.extend(low(entry.offset).to_le_bytes());
            header.extend(entry.name.as_bytes());
            self.put(out, &header);
        }
        let size = self.written - start;
        if self.written > LARGEST {
            return Err(TooLarge);
        }
        out.extend(0x0605_4b50_u32.to_le_bytes());
        out.extend([0; 4]);
        out.extend(count.to_le_bytes());
        out.extend(count.to_le_bytes());
        out.extend(low(size).to_le_bytes());
        out.extend(low(start).to_le_bytes());
        out.extend([0; 2]);
        Ok(())
    }

    fn local_header(&mut self, out: &mut Vec<u8>, name: &str, flags: u16, data: Option<&[u8]>) {
        let (checksum, size) = data.map_or((0, 0), |data| (crc32fast::hash(data), low(data.len() as u64)));
        let mut header = Vec::with_capacity(30 + name.len());
        header.extend(0x0403_4b50_u32.to_le_bytes());
        header.extend([20, 0]);
        header.extend(flags.to_le_bytes());
        header.extend([0; 4]);
        header.extend(DATE.to_le_bytes());
        header.extend(checksum.to_le_bytes());
        header.extend(size.to_le_bytes());
        header.extend(size.to_le_bytes());
        header.extend(name_length(name).to_le_bytes());
        header.extend([0; 2]);
        header.extend(name.as_bytes());
        let entry =
            Entry { name: name.to_owned(), offset: self.written, size: 0, checksum: crc32fast::Hasher::new(), flags };
        self.entries.push(entry);
        self.put(out, &header);
    }

    fn put(&mut self, out: &mut Vec<u8>, bytes: &[u8]) {
        out.extend_from_slice(bytes);
        self.written += bytes.len() as u64;
    }
}

impl Entry {
    fn checksum(&self) -> u32 {
        self.checksum.clone().finalize()
    }

    fn size(&self) -> u32 {
        low(self.size)
    }
}

/// Larger ones are refused before they are used.
fn low(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Names are hashes and ids.
fn name_length(name: &str) -> u16 {
    u16::try_from(name.len()).unwrap_or(u16::MAX)
}
