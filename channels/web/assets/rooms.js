// The list of rooms: each has a tape, and a link that can be shared. A guest's has those to which they
// were invited, once these are several.

import { ask, base } from './link.js';
import { copyText, make } from './parts.js';
import { t } from './words.js';

const $ = (id) => document.getElementById(id);

// A slash would start another path segment.
export const roomName = (name) => name?.trim().replaceAll('/', '-').slice(0, 80) ?? '';
export const roomLink = (name) => `${location.origin}/?room=${encodeURIComponent(name)}`;

export function setUpRooms({ room, announce, onTitle }) {
  const box = $('rooms');
  let isOwner = false;

  async function show() {
    let known = [];
    try { known = await ask('/api/rooms'); } catch { /* this one is known */ }
    box.hidden = !isOwner && known.length < 2;
    const titles = new Map(known.map((one) => [one.room, one.title]));
    const shown = (name) => titles.get(name) || name;
    const names = [...new Set([...titles.keys(), room])].sort((a, b) => shown(a).localeCompare(shown(b)));
    $('rooms-list').replaceChildren(...names.map((name) => {
      const item = make('li');
      const title = titles.get(name);
      const link = make('a', 'room-link', title || name);
      if (title) link.append(' ', make('small', '', name));
      link.href = `${base}/?room=${encodeURIComponent(name)}`;
      if (name === room) link.setAttribute('aria-current', 'page');
      item.append(link);
      return item;
    }));
  }

  // Whoever may write here may say what the room is called.
  $('title-form').addEventListener('submit', async (event) => {
    event.preventDefault();
    try {
      onTitle(await ask(`/api/rooms/${encodeURIComponent(room)}/title`, { title: $('title-input').value.trim() }));
      announce(t('Saved'));
      $('title-error').hidden = true;
    } catch (error) {
      $('title-error').textContent = error.message;
      $('title-error').hidden = false;
    }
  });

  box.addEventListener('toggle', () => { if (box.open) show(); });

  $('rooms-new').addEventListener('submit', (event) => {
    event.preventDefault();
    const name = roomName($('rooms-name').value);
    if (name) location.assign(roomLink(name));
  });

  $('rooms-copy').addEventListener('click', async () => {
    const done = await copyText(roomLink(room));
    announce(t(done ? 'Copied' : 'Copying failed'));
    $('rooms-copy').textContent = t(done ? 'Copied' : 'Failed');
    setTimeout(() => { $('rooms-copy').textContent = t('Copy the link to this room'); }, 1600);
  });

  return {
    offer(owner) {
      isOwner = owner;
      $('rooms-new').hidden = !owner;
      if (owner) box.hidden = false;
      else show();
    },
  };
}
