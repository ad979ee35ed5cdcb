// Elements, whose text is always text.

const SVG = 'http://www.w3.org/2000/svg';

// make('a', { class: 'title', href: '#/deck' }, 'Deck', child): `on...` values are listeners.
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

// A mechanical counter.
export const odometer = (text, label) => make('span', { class: 'counter', role: 'img', 'aria-label': label }, text);

export function announce(sentence) {
  document.getElementById('announce').textContent = sentence;
}
