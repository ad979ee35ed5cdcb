// Images that go with a message: chosen, pasted or dropped, without what the camera wrote into them.
// Photos are made small enough to send.

import { withoutMetadata } from './metadata.js';
import { asUrl, icon, make } from './parts.js';
import { t } from './words.js';

const MOST = 4;
const MOST_BYTES = 690_000; // of all images of a message, so that the whole stays below 1 MB
const SIDES = [2000, 1400, 1000, 700];

const $ = (id) => document.getElementById(id);

async function asJpeg(bitmap, side) {
  const scale = Math.min(1, side / Math.max(bitmap.width, bitmap.height));
  const canvas = make('canvas');
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  const context = canvas.getContext('2d');
  context.fillStyle = '#fff';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => { canvas.toBlob(resolve, 'image/jpeg', 0.82); });
}

// An image as it is sent, or null for what is none or stays too large.
async function fitted(file, most) {
  let bitmap = null;
  try {
    const plain = await withoutMetadata(file);
    if (plain && plain.size <= most) return { name: file.name, blob: plain, url: await asUrl(plain) };
    bitmap = await createImageBitmap(file);
    for (const side of SIDES) {
      const blob = await asJpeg(bitmap, side);
      if (blob && blob.size <= most) return { name: `${file.name.replace(/\.[^.]*$/, '')}.jpg`, blob, url: await asUrl(blob) };
    }
  } catch { /* it is none, or this browser cannot draw it now */ } finally { bitmap?.close(); }
  return null;
}

export function setUpAttaching({ form, field, announce, onError }) {
  const list = $('attached');
  let files = []; // { name, mime, data, url, size }
  let adding = Promise.resolve(); // one addition after another, so that they count each other's images
  let pending = 0;
  let refused = 0;

  function show() {
    list.hidden = !files.length;
    list.replaceChildren(...files.map((file) => {
      const item = make('li');
      const image = make('img');
      image.src = file.url;
      image.alt = file.name;
      const remove = make('button', 'icon-button');
      remove.type = 'button';
      remove.setAttribute('aria-label', t('Remove {0}', file.name));
      remove.append(icon('i-close'));
      remove.addEventListener('click', () => {
        files = files.filter((one) => one !== file);
        show();
        field.focus();
      });
      item.append(image, remove);
      return item;
    }));
    form.classList.toggle('has-files', files.length > 0);
  }

  function refuse(sentence) {
    refused += 1;
    onError(sentence);
  }

  function add(chosen) {
    pending += 1;
    adding = adding.then(() => addEach(chosen)).finally(() => { pending -= 1; });
    return adding;
  }

  async function addEach(chosen) {
    for (const file of chosen) {
      if (files.length >= MOST) {
        refuse(t('A message takes {0} images.', MOST));
        break;
      }
      const left = files.reduce((sum, { size }) => sum - size, MOST_BYTES);
      const fit = await fitted(file, left / 2); // so that others fit, too
      if (!fit) {
        refuse(t('{0} is no image that can be sent. Other files are not read here: paste their text.', file.name));
        continue;
      }
      const { blob, url } = fit;
      files.push({
        name: (fit.name || 'image').slice(0, 100), mime: blob.type, data: url.slice(url.indexOf(',') + 1), url, size: blob.size,
      });
      announce(t('{0} is attached', fit.name));
    }
    show();
  }

  $('attach-button').addEventListener('click', () => $('attach-input').click());
  $('attach-input').addEventListener('change', async ({ target }) => {
    await add([...target.files]);
    target.value = '';
    field.focus();
  });
  field.addEventListener('paste', (event) => {
    const pasted = [...(event.clipboardData?.files ?? [])];
    if (!pasted.length) return;
    event.preventDefault();
    add(pasted);
  });
  form.addEventListener('dragover', (event) => {
    if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
  });
  form.addEventListener('drop', (event) => {
    if (!event.dataTransfer?.files.length) return;
    event.preventDefault();
    add([...event.dataTransfer.files]);
  });

  return {
    get any() { return files.length > 0 || pending > 0; },
    // Take the images for a message once they are ready, or null if one of these was refused.
    async take() {
      const before = refused;
      await adding;
      if (refused > before) return null;
      const taken = files.map(({ name, mime, data }) => ({ name, mime, data }));
      files = [];
      show();
      return taken;
    },
    // Take the images of a refused message back.
    giveBack(returned) {
      files = [...returned.map((file) => ({ ...file, url: `data:${file.mime};base64,${file.data}`, size: file.data.length * 0.75 })), ...files].slice(0, MOST);
      show();
    },
  };
}
