// What people copy of a text with formulas: each formula as it was written. The drawing of one has
// no text that would say what stands above what.

import { make } from './parts.js';

// Put beside each drawing what was written, which only a copy shows.
export function addSources(content) {
  for (const math of content.querySelectorAll('.math > math')) {
    const source = make('span', 'math-source', math.getAttribute('alttext'));
    source.setAttribute('aria-hidden', 'true');
    math.after(source);
  }
}

const formulaOf = (node) => (node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement)?.closest('.math');

// Select whole what is selected in part; return the selection's range if it has formulas.
function selected(root) {
  const selection = document.getSelection();
  if (!selection.rangeCount || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  if (![...root.querySelectorAll('.math')].some((one) => range.intersectsNode(one))) return null;
  const [first, last] = [formulaOf(range.startContainer), formulaOf(range.endContainer)];
  if (first) range.setStartBefore(first);
  if (last) range.setEndAfter(last);
  return range;
}

// Return what is to be copied, as text and as HTML, or null if no formula is selected.
export function copied(root) {
  const range = selected(root);
  if (!range) return null;
  root.classList.add('copying');
  const text = document.getSelection().toString();
  root.classList.remove('copying');
  const holder = make('div');
  holder.append(range.cloneContents());
  for (const button of holder.querySelectorAll('button')) button.remove();
  for (const one of holder.querySelectorAll('.math')) one.replaceWith(one.querySelector('.math-source').textContent);
  return { text, html: holder.innerHTML };
}

export function setUpCopying(root) {
  document.addEventListener('copy', (event) => {
    if (event.target.closest?.('textarea, input')) return;
    const found = copied(root);
    if (!found) return;
    event.preventDefault();
    event.clipboardData.setData('text/plain', found.text);
    event.clipboardData.setData('text/html', found.html);
  });
}
