// A field of the timeline with its button: a search, or a date.

import { make } from '../dom.js';
import { t } from '../words.js';

// Return the `input`, and the `form` around it, whose `submit(value)` hears what was entered.
export function field(name, type, text, submit) {
  const input = make('input', { type, name, 'aria-label': text, step: type === 'datetime-local' ? '1' : null, placeholder: type === 'search' ? text : null });
  return { input, form: make('form', { class: 'tape-form', onsubmit: (event) => { event.preventDefault(); submit(input.value); } },
    input, make('button', { class: 'quiet', type: 'submit' }, t(type === 'search' ? 'tape.find' : 'tape.go'))) };
}
