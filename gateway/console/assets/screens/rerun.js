// Run a turn again with another model or without some messages: asked first, on a fork.

import { get, post } from '../api.js';
import { announce, make } from '../dom.js';
import { asked } from '../screen.js';
import { addWords, money, number, t } from '../words.js';
import { took } from './durations.js';

addWords({
  en: {
    'rerun.title': 'Run it again', 'rerun.about': 'The model is asked once more, with the results that the tools had then. No tool runs, nothing is sent to the chat, and its tape stays as it is.',
    'rerun.model': 'Model', 'rerun.open': 'Run it again…', 'rerun.go': 'Ask this model…', 'rerun.choose': 'Choose a model, and tick above what it is not to be shown.', 'rerun.leave': 'leave out',
    'rerun.ask': '{0} sees about {1} tokens of this chat, without descriptions of tools.', 'rerun.local': 'The text stays in this gateway.', 'rerun.cost': 'About {0} if the answer is long; it is counted among your own costs.', 'rerun.default': 'The default server', 'rerun.without': 'Without {0} message.|Without {0} messages.',
    'rerun.yes': 'Ask the model', 'rerun.no': 'Cancel', 'rerun.runs': 'The model is asked…', 'rerun.then': 'The answer then', 'rerun.now': 'The answer of {0}', 'rerun.empty': 'It wrote no text.', 'rerun.called': 'It wanted to call {0}, which was not run.',
    'rerun.took': 'Took', 'rerun.tokens': 'Tokens', 'rerun.price': 'Cost',
  },
  zh: {
    'rerun.title': '再运行一次', 'rerun.about': '再询问模型一次，使用当时工具的结果。不运行任何工具，不向聊天发送任何内容，其磁带保持不变。',
    'rerun.model': '模型', 'rerun.open': '再运行一次…', 'rerun.go': '询问此模型…', 'rerun.choose': '选择模型，并在上方勾选不给它看的内容。', 'rerun.leave': '省略',
    'rerun.ask': '{0} 会看到此聊天约 {1} 个词元，不含工具说明。', 'rerun.local': '文字不会离开本网关。', 'rerun.cost': '若回答较长，约 {0}，计入您本人的费用。', 'rerun.default': '默认服务器', 'rerun.without': '省略 {0} 条消息。',
    'rerun.yes': '询问模型', 'rerun.no': '取消', 'rerun.runs': '正在询问模型…', 'rerun.then': '当时的回答', 'rerun.now': '{0} 的回答', 'rerun.empty': '没有文字。', 'rerun.called': '它想调用 {0}，但未运行。',
    'rerun.took': '用时', 'rerun.tokens': '词元', 'rerun.price': '费用',
  },
});

export function rerun({ path, at, parts, list, signal }) {
  const place = make('div', { class: 'rerun-place' });
  const begin = make('button', { type: 'button', class: 'button', onclick: open }, t('rerun.open'));
  const box = make('section', { class: 'rerun', 'aria-labelledby': 'rerun-title' },
    make('h2', { id: 'rerun-title' }, t('rerun.title')), make('p', { class: 'why-note' }, t('rerun.about')), place, begin);
  const without = new Set();

  async function open() {
    begin.disabled = true;
    let found;
    try {
      found = await get(`${path}/models?at=${at}`, { signal });
    } catch (cause) {
      if (cause.name === 'AbortError') return;
      place.replaceChildren(make('p', { role: 'alert' }, cause.message));
      begin.disabled = false;
      return;
    }
    begin.hidden = true;
    const choice = make('select', { id: 'rerun-model' }, found.models.map(({ model }) => make('option', { value: model }, model)));
    const answers = make('div', { class: 'answers', 'aria-live': 'polite' });
    const go = make('button', { type: 'button', class: 'button' }, t('rerun.go'));
    go.addEventListener('click', async () => {
      const offer = found.models.find(({ model }) => model === choice.value);
      if (!(await agreed(offer, without.size))) return;
      go.disabled = true;
      announce(t('rerun.runs'));
      answers.replaceChildren(make('p', {}, t('rerun.runs')));
      try {
        const said = await post(`${path}/again?at=${at}`, { model: offer.model, without: [...without], agreed: true }, { signal });
        answers.replaceChildren(then(found.answer), now(said));
      } catch (cause) {
        if (cause.name !== 'AbortError') answers.replaceChildren(make('p', { role: 'alert' }, cause.message));
      }
      go.disabled = false;
      announce('');
    });
    place.replaceChildren(make('p', {}, t('rerun.choose')),
      make('div', { class: 'rerun-row' }, make('label', { for: 'rerun-model' }, t('rerun.model'), choice), go), answers);
    leaveOut(parts, list, without);
    choice.focus();
  }

  return box;
}

// Each message of the prompt gets a box to tick.
function leaveOut(parts, list, without) {
  const items = [...list.querySelectorAll('.part[data-entry]')];
  parts.forEach((part, i) => {
    if (!part.entry || part.origin === 'system') return;
    const tick = make('input', { type: 'checkbox' });
    tick.addEventListener('change', () => {
      if (tick.checked) without.add(part.entry);
      else without.delete(part.entry);
      items.forEach((other, j) => { if (parts[j].entry === part.entry) other.classList.toggle('left-out', tick.checked); });
    });
    items[i].querySelector('.part-head').append(make('label', { class: 'part-keep' }, tick, t('rerun.leave')));
  });
}

// Resolve to whether the person agrees that another server sees the text, and that it costs.
function agreed(offer, left) {
  return asked(`${t('rerun.title')}: ${offer.model}`, [
    offer.local ? t('rerun.local') : t('rerun.ask', offer.server || t('rerun.default'), number(offer.tokens)),
    left ? t('rerun.without', left) : '',
    t('rerun.cost', money(offer.cost, offer.cost === null)),
  ], t('rerun.no'), t('rerun.yes'));
}

function then(text) {
  return make('article', {}, make('h3', {}, t('rerun.then')), make('p', {}, text || t('rerun.empty')));
}

function now({ text, model, ms, tokens, cost, calls }) {
  const fact = (name, value) => make('div', {}, make('dt', {}, name), make('dd', {}, value));
  return make('article', {}, make('h3', {}, t('rerun.now', model)), make('p', {}, text || t('rerun.empty')),
    calls.length ? make('p', { class: 'why-note' }, t('rerun.called', calls.join(', '))) : null,
    make('dl', { class: 'facts' }, fact(t('rerun.took'), took(ms)),
      fact(t('rerun.tokens'), `${number(tokens.prompt_tokens)} + ${number(tokens.completion_tokens)}`), fact(t('rerun.price'), money(cost, cost === null))));
}
