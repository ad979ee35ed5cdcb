// Ctrl-K: go to a screen or a chat by some letters of its name.

import { get } from './api.js';
import { make } from './dom.js';
import { screens } from './screens/index.js';
import { t } from './words.js';

const $ = (id) => document.getElementById(id);
const MAX_SHOWN = 12;

// `isOwner()` says whether the instance's owner looks, to whom alone some screens belong.
export function setUpPalette(isOwner) {
  const dialog = $('palette');
  const input = $('palette-text');
  const list = $('palette-list');
  let places = [];
  let at = 0;

  function fits(name, wanted) {
    const low = name.toLocaleLowerCase();
    return wanted.split(/\s+/).every((word) => low.includes(word));
  }

  function draw() {
    const found = places.filter(({ name }) => fits(name, input.value.trim().toLocaleLowerCase())).slice(0, MAX_SHOWN);
    at = Math.min(at, Math.max(0, found.length - 1));
    list.replaceChildren(...found.map(({ name, about, href }, i) => make(
      'li', { role: 'option', id: `palette-${i}`, 'aria-selected': i === at ? 'true' : 'false', 'data-href': href, onclick: () => go(href) },
      make('span', { class: 'palette-name' }, name), make('span', { class: 'palette-about' }, about),
    )));
    if (!found.length) list.append(make('li', { role: 'option', 'aria-disabled': 'true', 'aria-selected': 'false' }, t('palette.none')));
    if (found.length) input.setAttribute('aria-activedescendant', `palette-${at}`);
    else input.removeAttribute('aria-activedescendant');
  }

  function go(href) {
    dialog.close();
    location.hash = href;
  }

  async function open() {
    if (dialog.open || document.body.classList.contains('signed-out')) return;
    places = screens.filter(({ nav, owner }) => nav && (isOwner() || !owner)).map(({ nav, route }) => ({ name: t(`nav.${nav}`), about: '', href: `#/${[route].flat()[0]}` }));
    input.value = '';
    at = 0;
    draw();
    dialog.showModal();
    input.focus();
    try {
      const { chats } = await get('chats');
      places.push(...chats.map(({ chat, title, channel }) => ({ name: title, about: channel, href: `#/tape/${chat}` })));
      draw();
    } catch { /* the screens are there */ }
  }

  input.addEventListener('input', () => { at = 0; draw(); });
  input.addEventListener('keydown', (event) => {
    const count = list.querySelectorAll('[data-href]').length;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      if (count) at = (at + (event.key === 'ArrowDown' ? 1 : count - 1)) % count;
      draw();
    } else if (event.key === 'Enter') {
      event.preventDefault();
      const chosen = list.querySelector('[aria-selected=true]');
      if (chosen?.dataset.href) go(chosen.dataset.href);
    }
  });
  dialog.addEventListener('click', (event) => { if (event.target === dialog) dialog.close(); });
  $('palette-open').addEventListener('click', open);
  window.addEventListener('keydown', (event) => {
    if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    event.preventDefault();
    if (dialog.open) dialog.close();
    else open();
  });
}
