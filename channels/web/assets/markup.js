// The body of a message: what the gateway rendered, with frames for code and tables.
// A draft gets them from its first line, so that nothing moves when it is finished.

import { addSources, setUpCopying } from './copying.js';
import { refusal } from './link.js';
import {
  asUrl, copyText, icon, make,
} from './parts.js';
import { language, t } from './words.js';

function parsed(html) {
  const template = make('template');
  template.innerHTML = html ?? '';
  const { content } = template;
  for (const item of content.querySelectorAll('li')) showTask(item);
  showFootnotes(content);
  addSources(content);
  return content;
}

// What a screen reader says: the text of the body, without its buttons, and formulas as written.
export function spokenText(html) {
  const content = parsed(html);
  for (const part of content.querySelectorAll('button, math')) part.remove();
  return content.textContent.replace(/\n{2,}/g, '\n').trim();
}

// Return how a message begins, in one line, as it reads where it is shown.
export function excerpt(message, length = 140) {
  const chars = Array.from(spokenText(message.html ?? '').replace(/\s+/g, ' '));
  return chars.length > length ? `${chars.slice(0, length - 1).join('')}…` : chars.join('');
}

// Show a body, or what it has grown to. Only what differs is replaced, so that text that grows
// neither flickers nor loses a selection, a focus or its scrolling.
export function showBody(body, html) {
  const next = parsed(html);
  for (const pre of next.querySelectorAll('pre')) frameCode(pre);
  for (const table of next.querySelectorAll('table')) frameTable(table);
  for (const code of next.querySelectorAll(CODE)) colour(code);
  if (body.closest('[data-role="agent"]')) for (const link of next.querySelectorAll('a[data-image]')) frameImage(link, body.closest('.draft') !== null);
  merge(body, next);
  cues.look(body);
}

// ---- what Markdown has besides --------------------------------------------------------

function showTask(item) {
  const text = item.firstElementChild?.nodeName === 'P' ? item.firstElementChild.firstChild : item.firstChild;
  const mark = text?.nodeType === Node.TEXT_NODE && /^\s*\[([ xX])\]\s+/.exec(text.data);
  if (!mark) return;
  const box = make('span', 'task-box');
  const done = mark[1] !== ' ';
  box.setAttribute('role', 'img');
  box.setAttribute('aria-label', t(done ? 'done' : 'open'));
  box.dataset.done = String(done);
  text.data = text.data.slice(mark[0].length);
  text.before(box);
  item.classList.add('task');
}

const NOTE = /^\s*\[\^([^\]\s]+)\]:\s*/;

// A footnote's text stands at the end; its number leads there and back.
function showFootnotes(content) {
  const notes = new Map();
  for (const part of [...content.querySelectorAll('p')]) {
    if (!NOTE.test(part.textContent)) continue;
    let note = null;
    for (const node of [...part.childNodes]) {
      const begins = isText(node) && (!note || node.previousSibling?.nodeName === 'BR' || node.data.startsWith('\n')) && NOTE.exec(node.data);
      if (begins) {
        note = make('li');
        node.data = node.data.slice(begins[0].length);
        if (!notes.has(begins[1])) notes.set(begins[1], note);
      }
      if (node.nodeName === 'BR') node.remove();
      else note.append(node);
    }
    part.remove();
  }
  if (!notes.size) return;
  const names = [...notes.keys()];
  const numbered = (node) => {
    const pieces = node.data.split(/\[\^([^\]\s]+)\](?!:)/);
    return pieces.map((piece, i) => {
      const number = names.indexOf(piece) + 1;
      if (i % 2 === 0 || !number) return i % 2 ? `[^${piece}]` : piece;
      const mark = make('sup');
      mark.append(noteButton('note-mark', number, String(number), t('Footnote {0}', number)));
      return mark;
    });
  };
  for (const node of textsOf(content)) if (node.data.includes('[^')) node.replaceWith(...numbered(node));
  const list = make('ol', 'notes');
  [...notes.values()].forEach((note, i) => {
    note.append(' ', noteButton('note-back', i + 1, '↩', t('Back to footnote {0}', i + 1)));
    list.append(note);
  });
  content.append(list);
}

function noteButton(className, number, text, label) {
  const button = make('button', className, text);
  button.type = 'button';
  button.dataset.note = number;
  button.setAttribute('aria-label', label);
  return button;
}

function textsOf(content) {
  const walker = document.createTreeWalker(content, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) if (!walker.currentNode.parentElement?.closest('code, a, .math')) found.push(walker.currentNode);
  return found;
}

// ---- code and tables ------------------------------------------------------------------

const CODE = 'pre > code[class*="language-"]';
const languageOf = (code) => /\blanguage-([\w+#.-]+)/.exec(code.className)?.[1] ?? '';
let painter = null;

// The colours come with the first code of a room.
function colour(code) {
  if (painter?.paint) painter.paint(code, languageOf(code));
  painter ??= import('./colours.js').then((module) => {
    painter = module;
    for (const shown of document.querySelectorAll(`.body ${CODE}:not(:has(span))`)) colour(shown);
  }, () => { painter = null; });
}

function frameCode(pre) {
  const code = pre.querySelector('code') ?? pre;
  const language = languageOf(code);
  const frame = make('div', 'code wide');
  const head = make('div', 'code-head');
  head.dataset.language = language;
  const copy = make('button', 'copy', t('Copy'));
  copy.type = 'button';
  copy.setAttribute('aria-label', language ? t('Copy {0} code', language) : t('Copy code'));
  head.append(make('span', 'code-language', language), copy);
  pre.replaceWith(frame);
  pre.tabIndex = 0;
  pre.setAttribute('role', 'region');
  pre.setAttribute('aria-label', language ? t('{0} code', language) : t('Code'));
  frame.append(head, pre);
}

function frameTable(table) {
  const frame = make('div', 'wide');
  const inner = make('div', 'table-frame');
  inner.tabIndex = 0;
  inner.setAttribute('role', 'region');
  inner.setAttribute('aria-label', t('Table'));
  table.replaceWith(frame);
  inner.append(table);
  frame.append(inner);
}

// An image of another server is fetched by the gateway, once somebody asks for it, and the answer
// in which it stands is on the tape.
function frameImage(link, isDraft) {
  if (!/^https?:$/.test(link.protocol)) return;
  const box = make('span', 'far-image');
  const show = make('button', 'show-image');
  const alt = link.textContent === link.getAttribute('href') ? '' : link.textContent;
  show.type = 'button';
  show.dataset.image = link.dataset.image;
  show.disabled = isDraft;
  show.append(icon('i-image'), make('span', '', alt || t('Image')), make('small', '', t('Show the image')));
  link.replaceWith(box);
  link.textContent = link.host;
  delete link.dataset.image;
  box.append(show, link);
}

async function showImage(button, urlOf, announce) {
  if (button.getAttribute('aria-busy') === 'true') return;
  button.setAttribute('aria-busy', 'true');
  const [, name, state] = button.children;
  try {
    const response = await fetch(urlOf(button.closest('.msg').dataset.id, button.dataset.image), { headers: { 'Accept-Language': language } });
    if (!response.ok) throw new Error(await refusal(response));
    const image = make('img');
    image.alt = name.textContent;
    image.src = await asUrl(await response.blob());
    image.tabIndex = -1;
    await image.decode();
    button.replaceWith(image);
    image.focus({ preventScroll: true });
    announce(t('Image: {0}', image.alt));
  } catch (error) {
    state.textContent = error instanceof TypeError ? t('The gateway cannot be reached.') : error.name === 'EncodingError' ? t('This image cannot be shown.') : error.message;
    announce(state.textContent);
  }
  button.removeAttribute('aria-busy');
}

// A frame says on which sides it has more than it shows. All are measured before any is marked.
const cues = {
  waiting: new Set(),
  look(root) {
    if (!this.waiting.size) requestAnimationFrame(() => this.mark());
    this.waiting.add(root);
  },
  mark() {
    const scrollers = [...this.waiting].flatMap((root) => [...root.querySelectorAll('.wide > pre, .wide > .table-frame')]);
    const formulas = [...this.waiting].flatMap((root) => [...root.querySelectorAll('.math-block, .math-long')]);
    const isWide = formulas.map(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth);
    this.waiting.clear();
    const sides = scrollers.map(({ scrollLeft, scrollWidth, clientWidth }) => {
      const left = Math.abs(scrollLeft); // negative where text runs from right to left
      return [left > 1 ? 'start' : '', scrollWidth - clientWidth - left > 1 ? 'end' : ''].join(' ').trim();
    });
    scrollers.forEach((scroller, i) => {
      const frame = scroller.parentElement;
      if ((frame.dataset.more ?? '') !== sides[i]) frame.dataset.more = sides[i];
    });
    formulas.forEach((formula, i) => { if (isWide[i]) formula.tabIndex = 0; });
  },
};

// One listener for all buttons of bodies, also for those of text that still grows.
export function setUpBodies(root, announce, imageUrl) {
  setUpCopying(root);
  root.addEventListener('click', ({ target }) => {
    const button = target.closest?.('.copy, .note-mark, .note-back, .show-image');
    if (button?.className === 'copy') copyCode(button, announce);
    else if (button?.className === 'show-image') showImage(button, imageUrl, announce);
    else if (button) followNote(button);
  });
  root.addEventListener('scroll', ({ target }) => cues.look(target.parentElement), { capture: true, passive: true });
  new ResizeObserver(() => cues.look(root)).observe(root);
}

async function copyCode(copy, announce) {
  const code = copy.closest('.code').querySelector('pre');
  const done = await copyText(code.textContent.replace(/\n$/, ''));
  copy.textContent = t(done ? 'Copied' : 'Failed');
  announce(t(done ? 'Copied' : 'Copying failed'));
  setTimeout(() => { copy.textContent = t('Copy'); }, 1600);
}

function followNote(button) {
  const wanted = button.className === 'note-mark' ? 'note-back' : 'note-mark';
  const other = button.closest('.body').querySelector(`.${wanted}[data-note="${button.dataset.note}"]`);
  other?.scrollIntoView({ block: 'nearest' });
  other?.focus({ preventScroll: true });
}

// ---- growing --------------------------------------------------------------------------

const isText = (node) => node.nodeType === Node.TEXT_NODE;

// Make the children of one node those of another.
function merge(now, next) {
  const wanted = [...next.childNodes];
  while (now.childNodes.length > wanted.length) now.lastChild.remove();
  wanted.forEach((node, i) => {
    const old = now.childNodes[i];
    if (!old) now.append(node);
    else if (!old.isEqualNode(node)) mergeNode(old, node);
  });
}

function mergeNode(old, node) {
  if (isText(old) && isText(node)) {
    if (node.data.startsWith(old.data)) old.appendData(node.data.slice(old.data.length));
    else old.data = node.data;
  } else if (old.nodeName !== node.nodeName || isText(old)) {
    old.replaceWith(node);
  } else if (!isSameHead(old, node)) {
    for (const { name } of [...old.attributes]) if (name !== 'data-more' && !node.hasAttribute(name)) old.removeAttribute(name);
    for (const { name, value } of node.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    merge(old, node);
  }
}

// A Copy button that was just pressed says so while the code below it grows.
const isSameHead = (old, node) => old.className === 'code-head' && old.dataset.language === node.dataset?.language;
