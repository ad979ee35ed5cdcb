// The page's words: English stands in the code, and a module for each other language has the rest.

const CHOSEN = 'tapeway.language';
export const LANGUAGES = { en: 'English', zh: '中文' };

function chosen() {
  try { return localStorage.getItem(CHOSEN); } catch { return null; }
}

const tags = [chosen(), ...navigator.languages].filter(Boolean);
const isKnown = (tag) => Object.hasOwn(LANGUAGES, tag.split('-')[0]);
const known = tags.find(isKnown) ?? 'en';
export const language = known.split('-')[0];

// Whatever the language, the clock is the browser's: 24 hours where that has 24.
const { hourCycle } = new Intl.DateTimeFormat(undefined, { hour: 'numeric' }).resolvedOptions();
export const locale = new Intl.Locale(known, { hourCycle }).toString();
const words = language === 'en' ? {} : (await import(`./words-${language}.js`)).words;

// A sentence in the page's language; {0} and {1} stand for values.
export const t = (sentence, ...values) => (words[sentence] ?? sentence).replace(/\{(\d)\}/g, (_, i) => values[i]);

export const counted = (number, one, many = `${one}s`) => t(`{0} ${number === 1 && language === 'en' ? one : many}`, number);

// Put the words of a page's HTML into its language.
export function translate(root = document.documentElement) {
  document.documentElement.lang = language === 'zh' ? 'zh-Hans' : language;
  if (language === 'en') return;
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode;
    const found = words[text.data.trim()];
    if (found) text.data = text.data.replace(text.data.trim(), found);
  }
  for (const name of ['aria-label', 'placeholder', 'title']) {
    for (const element of root.querySelectorAll(`[${name}]`)) element.setAttribute(name, t(element.getAttribute(name)));
  }
}

export function chooseLanguage(tag) {
  try { localStorage.setItem(CHOSEN, tag); } catch { /* the page forgets it */ }
  location.reload();
}
