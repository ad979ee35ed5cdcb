// Elements, whose text is always text.

import { t } from './words.js';

const SVG = 'http://www.w3.org/2000/svg';

// make('a', { class: 'title', href: '#/deck' }, 'Chats', child): `on...` values are listeners.
export function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export const reel = (name = '') => svg('svg', { class: `reel ${name}`, 'aria-hidden': 'true' }, svg('use', { href: '#reel' }));

// A text of the gateway, in which `names` stand between backticks.
export const coded = (text) => text.split('`').map((part, i) => (i % 2 ? make('code', {}, part) : part));

// A person's initial, beside the name: the colours belong to conversations.
export const disc = (name) => make('span', { class: 'disc', 'aria-hidden': 'true' }, (Array.from((name ?? '').trim())[0] ?? '?').toLocaleUpperCase());

let tips = 0;

// A word with its explanation, which is shown while the word is pointed at or has the focus.
export function term(word, says) {
  const id = `tip-${++tips}`;
  return make('span', { class: 'term' },
    make('button', { type: 'button', 'aria-describedby': id, onkeydown: (event) => { if (event.key === 'Escape') event.currentTarget.blur(); } }, word),
    make('span', { class: 'tip', role: 'tooltip', id }, says));
}

// A mechanical counter.
export const odometer = (text, label) => make('span', { class: 'counter', role: 'img', 'aria-label': label }, text);

export function announce(sentence) {
  document.getElementById('announce').textContent = sentence;
}

// A table that scrolls by itself where it is too wide, and then says so. `columns` are [title, class]; rows are lists of cells.
export function table(caption, columns, rows) {
  const says = make('p', { class: 'scrolls', hidden: true }, t('scrolls'));
  const region = make('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': caption },
    make('table', {},
      make('thead', {}, make('tr', {}, columns.map(([text, name = '']) => make('th', { scope: 'col', class: name }, text)))),
      make('tbody', {}, rows.map((cells) => make('tr', {}, cells.map((cell, i) => make(i ? 'td' : 'th', { scope: i ? null : 'row', class: columns[i][1] ?? '' }, cell)))))));
  const look = () => { says.hidden = region.scrollWidth <= region.clientWidth + 1; };
  const sizes = new ResizeObserver(look);
  for (const element of [region, region.firstChild]) sizes.observe(element);
  return make('div', {}, says, region);
}

// A lamp with its words.
export const lamp = (kind, text) => make('span', { class: 'lamp', 'data-kind': kind }, text);

// Ask before something that cannot be undone; return whether the person agreed.
export function sure({ title, sentence, yes, no }) {
  return new Promise((resolve) => {
    const decide = (agreed) => () => { dialog.close(agreed ? 'yes' : ''); };
    const dialog = make('dialog', { class: 'ask', 'aria-labelledby': 'ask-title', onclose: () => { resolve(dialog.returnValue === 'yes'); dialog.remove(); } },
      make('h2', { id: 'ask-title' }, title), make('p', {}, sentence),
      make('p', { class: 'ask-buttons' },
        make('button', { type: 'button', class: 'quiet', onclick: decide(false), autofocus: true }, no),
        make('button', { type: 'button', class: 'button danger', onclick: decide(true) }, yes)));
    document.body.append(dialog);
    dialog.showModal();
  });
}
