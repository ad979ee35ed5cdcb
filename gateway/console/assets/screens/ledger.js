// The ledger: what failed, waits or is held; each row is tried again or dropped, with one sentence.

import { post } from '../api.js';
import { announce, coded, make } from '../dom.js';
import { follow, section } from '../screen.js';
import { addWords, t, when } from '../words.js';
import { statusLamp } from './statuses.js';

addWords({
  en: {
    'ledger.title': 'Open work', 'ledger.about': 'Messages that the gateway received and answers that it sends, as long as they are not done: those that failed, wait or are held. The others are found under', 'ledger.failed': 'Failed or unclear', 'ledger.waiting': 'Waiting', 'ledger.held': 'Held since a restore',
    'ledger.none.failed': 'Nothing has failed.', 'ledger.none.waiting': 'Nothing waits.', 'ledger.none.held': 'Nothing is held.',
    'ledger.retry.in': 'Answer again', 'ledger.retry.out': 'Send again', 'ledger.drop': 'Drop', 'ledger.why': 'Why',
    'ledger.in': 'message received', 'ledger.out': 'answer to be sent', 'ledger.tries': 'tried {0} time|tried {0} times',
  },
  zh: {
    'ledger.title': '待处理', 'ledger.about': '网关收到的消息和发送的回答中尚未完成的部分：失败、等待或保留的。其余的见', 'ledger.failed': '失败或不明', 'ledger.waiting': '等待中', 'ledger.held': '恢复后保留',
    'ledger.none.failed': '没有失败。', 'ledger.none.waiting': '没有等待。', 'ledger.none.held': '没有保留。',
    'ledger.retry.in': '重新回答', 'ledger.retry.out': '重新发送', 'ledger.drop': '放弃', 'ledger.why': '原因',
    'ledger.in': '收到的消息', 'ledger.out': '待发送的回答', 'ledger.tries': '已尝试 {0} 次',
  },
});

export const title = () => t('ledger.title');

export function mount(root) {
  const { root: place, note } = section(t('ledger.title'), 'ledger');
  place.append(make('p', { class: 'more' }, t('ledger.about'), ' ', make('a', { href: '#/why' }, t('nav.why')), t('stop')));
  const groups = ['failed', 'waiting', 'held'].map((name) => {
    const list = make('ul', { class: 'rows', 'aria-labelledby': `ledger-${name}` });
    const count = make('span', { class: 'count' });
    const none = make('p', { class: 'empty' }, t(`ledger.none.${name}`));
    place.append(make('section', { class: 'group' }, make('h2', { id: `ledger-${name}` }, t(`ledger.${name}`), ' ', count), none, list));
    return { name, list, count, none };
  });
  const done = make('p', { class: 'done', role: 'status' });
  place.append(done);
  root.append(place);

  function draw(found) {
    const focused = document.activeElement?.closest?.('[data-row]');
    const [row, action] = focused ? [focused.dataset.row, document.activeElement.dataset.action] : [];
    for (const { name, list, count, none } of groups) {
      list.replaceChildren(...found[name].map(rowOf));
      count.textContent = found[name].length || '';
      none.hidden = found[name].length > 0;
    }
    if (row) place.querySelector(`[data-row="${row}"] [data-action="${action}"]`)?.focus({ preventScroll: true });
  }

  async function act(row, action, button) {
    button.disabled = true;
    try {
      const { done: sentence } = await post(`ledger/${row}/${action}`);
      done.textContent = sentence;
    } catch (cause) {
      done.textContent = cause.message; // somebody else may have been faster
    }
    announce(done.textContent);
    followed.refresh();
  }

  function rowOf(row) {
    const button = (action, text) => make('button', {
      type: 'button', class: 'quiet', 'data-action': action, 'aria-label': `${text}: ${row.title}`, onclick: (event) => act(row.row, action, event.currentTarget),
    }, text);
    return make('li', { class: 'row', 'data-row': row.row },
      statusLamp(row.status),
      make('div', { class: 'row-main' },
        make('p', { class: 'row-head' },
          row.chat ? make('a', { href: `#/tape/${row.chat}` }, make('bdi', {}, row.title)) : make('bdi', {}, row.title),
          make('span', { class: 'row-about' }, ` · ${row.channel} · ${t(`ledger.${row.box}`)}`, row.name ? ' · ' : '', row.name ? make('bdi', {}, row.name) : '', ` · ${when(row.date)}`, row.attempts > 1 ? ` · ${t('ledger.tries', row.attempts)}` : '')),
        row.text ? make('p', { class: 'row-text' }, row.text) : null,
        row.why ? make('p', { class: 'row-why' }, coded(row.why)) : null),
      make('p', { class: 'row-buttons' },
        row.inbox ? make('a', { class: 'quiet', href: `#/why/inbox/${row.inbox}`, 'aria-label': `${t('ledger.why')}: ${row.title}` }, t('ledger.why')) : null,
        row.retry ? button('retry', t(`ledger.retry.${row.box}`)) : null,
        row.drop ? button('drop', t('ledger.drop')) : null));
  }

  const followed = follow({ path: () => 'ledger', draw, note, topics: ['ledger', 'chat'] });
  return followed.end;
}
