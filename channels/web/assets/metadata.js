// What cameras and programs write into PNG and WebP files besides the image: where and when it was
// taken, by whom, with what. The rest of a file stays as it is, also if it moves.

const text = (bytes, at, length) => String.fromCharCode(...bytes.subarray(at, at + length));
const isPng = (bytes) => text(bytes, 0, 8) === '\x89PNG\r\n\x1a\n';
const isWebp = (bytes) => text(bytes, 0, 4) === 'RIFF' && text(bytes, 8, 4) === 'WEBP';
const isGif = (bytes) => /^GIF8[79]a$/.test(text(bytes, 0, 6));

const NOTES = ['eXIf', 'tEXt', 'zTXt', 'iTXt', 'tIME', 'EXIF', 'XMP '];
const ORIENTATION = 0x112;
const WEBP_HAS_NOTES = 0x0c; // the bits for EXIF and XMP in the first byte of `VP8X`

// The parts of a file: { name, from, to, data, size }, of which the bytes from `data` on are its own.
function* partsOf(bytes, png) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let from = png ? 8 : 12; from + 8 <= bytes.length;) {
    const size = view.getUint32(png ? from : from + 4, !png);
    const to = from + 8 + size + (png ? 4 : size % 2);
    yield {
      name: text(bytes, png ? from + 4 : from, 4), from, to: Math.min(to, bytes.length), data: from + 8, size,
    };
    from = to;
  }
}

// Whether a viewer turns the image, as EXIF says.
function isTurned(exif) {
  try {
    const start = text(exif, 0, 4) === 'Exif' ? 6 : 0;
    const view = new DataView(exif.buffer, exif.byteOffset + start, exif.byteLength - start);
    const little = view.getUint16(0) === 0x4949;
    const directory = view.getUint32(4, little);
    for (let i = 0; i < view.getUint16(directory, little); i += 1) {
      const entry = directory + 2 + 12 * i;
      if (view.getUint16(entry, little) === ORIENTATION) return view.getUint16(entry + 8, little) > 1;
    }
  } catch { /* it is broken */ }
  return false;
}

// Return an image without its metadata as a Blob, or null if it has to be drawn again: it is of
// another type, or only its metadata says which side is up.
export async function withoutMetadata(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (isGif(bytes)) return new Blob([bytes], { type: 'image/gif' });
  const png = isPng(bytes);
  if (!png && !isWebp(bytes)) return null;
  const kept = [bytes.slice(0, png ? 8 : 12)];
  for (const part of partsOf(bytes, png)) {
    if (/^exif$/i.test(part.name) && isTurned(bytes.subarray(part.data, part.data + part.size))) return null;
    if (NOTES.includes(part.name)) continue;
    const own = bytes.slice(part.from, part.to);
    if (part.name === 'VP8X') own[8] &= ~WEBP_HAS_NOTES;
    kept.push(own);
  }
  if (!png) {
    const size = kept.reduce((sum, { length }) => sum + length, -8);
    new DataView(kept[0].buffer).setUint32(4, size, true);
  }
  return new Blob(kept, { type: png ? 'image/png' : 'image/webp' });
}
