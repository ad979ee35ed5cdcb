// Money: what was used by day, chat, person or model.

import { make, odometer, table } from '../dom.js';
import { follow, section } from '../screen.js';
import { addWords, money, number, short, t } from '../words.js';

addWords({
  en: {
    'money.title': 'Money', 'money.by': 'Sum up by', 'money.day': 'Day', 'money.chat': 'Chat', 'money.person': 'Person', 'money.model': 'Model',
    'money.since': 'From', 'money.until': 'To', 'money.csv': 'Save as CSV', 'money.none': 'Nothing was used in these days.', 'money.more': 'The first {0} rows are shown; the CSV file has all of them.',
    'money.turns': 'Questions', 'money.calls': 'Calls', 'money.input': 'Input', 'money.cached': 'Cached', 'money.output': 'Output', 'money.cost': 'Cost',
    'money.total': '{1} for {0} question|{1} for {0} questions', 'money.tokens': '{0} tokens', 'money.unit': 'tokens in these days', 'money.share': '{0} % of the input was cached', 'money.estimated': 'estimated: the server did not report all tokens', 'money.erased': 'erased',
    'money.prices': 'Costs come from the prices in the settings, in the currency that is set there; where none are set, common models have those of their own server’s price list. What has no known price is not counted. A question counts once it has used tokens, also if its answer failed.',
  },
  zh: {
    'money.title': '费用', 'money.by': '汇总方式', 'money.day': '日期', 'money.chat': '聊天', 'money.person': '人员', 'money.model': '模型',
    'money.since': '从', 'money.until': '到', 'money.csv': '保存为 CSV', 'money.none': '这些天没有使用。', 'money.more': '仅显示前 {0} 行；CSV 文件包含全部。',
    'money.turns': '问题', 'money.calls': '调用', 'money.input': '输入', 'money.cached': '缓存', 'money.output': '输出', 'money.cost': '费用',
    'money.total': '{0} 个问题共 {1}', 'money.tokens': '{0} 个词元', 'money.unit': '这些天的词元', 'money.share': '输入中 {0} % 来自缓存', 'money.estimated': '估算值：服务器未报告全部词元', 'money.erased': '已删除',
    'money.prices': '费用按设置中的价格和货币计算；未设置时，常见模型使用其服务商的价目表。价格未知的用量不计入费用。只要用了词元，回答失败的问题也计入。',
  },
});

const BY = ['day', 'chat', 'person', 'model'];

export const title = () => t('money.title');

export function mount(root) {
  const { root: place, note } = section(t('money.title'), 'money');
  const by = make('select', { id: 'money-by', onchange: () => followed.refresh() }, BY.map((one) => make('option', { value: one }, t(`money.${one}`))));
  const since = make('input', { id: 'money-since', type: 'date', onchange: () => followed.refresh() });
  const until = make('input', { id: 'money-until', type: 'date', onchange: () => followed.refresh() });
  const csv = make('a', { class: 'button', download: '' }, t('money.csv'));
  const field = (text, input) => make('p', { class: 'field' }, make('label', { for: input.id }, text), input);
  const total = make('p', { class: 'total' });
  const rows = make('div');
  place.append(make('div', { class: 'fields' }, field(t('money.by'), by), field(t('money.since'), since), field(t('money.until'), until), csv), total, rows, make('p', { class: 'more' }, t('money.prices')));
  root.append(place);

  const query = () => new URLSearchParams({ by: by.value, since: since.value, until: until.value });

  function draw(found) {
    since.value ||= found.since;
    until.value ||= found.until;
    csv.href = `/api/console/money.csv?${query()}`;
    const { total: sum } = found;
    const input = sum.input + sum.cached;
    const tokens = input + sum.output;
    total.replaceChildren(make('span', {}, odometer(short(tokens), t('money.tokens', number(tokens))), ' ', make('span', { class: 'unit', 'aria-hidden': 'true' }, t('money.unit'))), make('strong', {}, t('money.total', number(sum.turns), money(sum.cost, sum.unpriced))),
      input ? make('span', { class: 'row-about' }, t('money.share', Math.round((sum.cached / input) * 100))) : '',
      sum.estimated ? make('span', { class: 'row-about' }, t('money.estimated')) : '');
    if (!found.rows.length) { rows.replaceChildren(make('p', { class: 'empty' }, t('money.none'))); return; }
    const most = Math.max(...found.rows.map((row) => row.cost ?? 0), 1e-9);
    const columns = [[t(`money.${found.by}`)], ...['turns', 'calls', 'input', 'cached', 'output', 'cost'].map((name) => [t(`money.${name}`), 'number']), ['', 'bar share']];
    rows.replaceChildren(table(t('money.title'), columns, found.rows.map((row) => [
      make('bdi', {}, row.name || row.key || t('money.erased')), number(row.turns), number(row.calls), number(row.input), number(row.cached), number(row.output),
      `${row.estimated && row.cost !== null ? '≈ ' : ''}${money(row.cost, row.unpriced)}`, make('meter', { min: 0, max: most, value: row.cost ?? 0, 'aria-label': money(row.cost, row.unpriced) }),
    ])), found.more ? make('p', { class: 'more' }, t('money.more', number(found.rows.length))) : '');
  }

  const followed = follow({ path: () => `money?${query()}`, draw, note });
  return followed.end;
}
