// Small parts of the page: elements, colors, dates and message bodies.

import { locale, t } from './words.js';

const SVG = 'http://www.w3.org/2000/svg';

export function make(tag, className = '', text = null) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== null) element.textContent = text;
  return element;
}

export function icon(name, className = 'icon') {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('class', className);
  svg.setAttribute('aria-hidden', 'true');
  const use = document.createElementNS(SVG, 'use');
  use.setAttribute('href', `#${name}`);
  svg.append(use);
  return svg;
}

export const initial = (name) => (Array.from(name.trim())[0] ?? '?').toLocaleUpperCase();

export const clock = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit' });
export const fullDate = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'medium' });

export const dayKey = (date) => (Number.isNaN(+date) ? '' : `${date.getFullYear()}-${date.getMonth()}-${date.getDate()}`);

export function dayName(date) {
  const today = new Date();
  const yesterday = new Date(today.getFullYear(), today.getMonth(), today.getDate() - 1);
  if (dayKey(date) === dayKey(today)) return t('Today');
  if (dayKey(date) === dayKey(yesterday)) return t('Yesterday');
  return new Intl.DateTimeFormat(locale, {
    weekday: 'long', day: 'numeric', month: 'long',
    year: date.getFullYear() === today.getFullYear() ? undefined : 'numeric',
  }).format(date);
}

export function asUrl(blob) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}

export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch { /* not allowed, or not a secure context */ }
  const helper = make('textarea', 'sr-only');
  helper.value = text;
  const before = document.activeElement;
  document.body.append(helper);
  helper.select();
  let done = false;
  try { done = document.execCommand('copy'); } catch { /* nothing left to try */ }
  helper.remove();
  before?.focus({ preventScroll: true });
  return done;
}

// A node that is moved keeps its focus, its selection and its scrolling. (`moveBefore` would do
// that, but Chromium then keeps styles that no longer apply.)
function place(container, node, before) {
  const focused = node.contains(document.activeElement) ? document.activeElement : null;
  const selection = document.getSelection();
  const { anchorNode, anchorOffset, focusNode, focusOffset } = selection;
  const scrolled = node.isConnected ? [...node.querySelectorAll('.wide > *')].map((part) => [part, part.scrollLeft]) : [];
  const selects = anchorNode && !selection.isCollapsed && node.isConnected && node.contains(anchorNode);
  container.insertBefore(node, before);
  for (const [part, left] of scrolled) if (left) part.scrollLeft = left;
  if (focused) focused.focus({ preventScroll: true });
  if (selects && focusNode.isConnected) selection.setBaseAndExtent(anchorNode, anchorOffset, focusNode, focusOffset);
}

// Put exactly these nodes into a container, moving as few as possible.
export function arrange(container, wanted) {
  const keep = new Set(wanted);
  for (const child of [...container.children]) if (!keep.has(child)) child.remove();
  let at = container.firstElementChild;
  for (const node of wanted) {
    if (node === at) at = at.nextElementSibling;
    else place(container, node, at);
  }
}

// The key under which the console has a session: the session's id in base64.
export function consoleKey(session) {
  const bytes = String.fromCharCode(...new TextEncoder().encode(session));
  return btoa(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}
