// The owner's notice that no model is set up, and the dialog that sets one up.

import { ask, store } from './link.js';
import { t } from './words.js';

const $ = (id) => document.getElementById(id);
const ANOTHER = '';

export function setUpModel({ announce, onClosed }) {
  const dialog = $('model-dialog');
  const buttons = [$('model-button'), $('model-panel-button')];
  let servers = [];
  let wanted = false; // whether the gateway says that no model is set up
  let saved = false;  // whether one was saved here, which answers from now on

  function showNotice() {
    $('hint').hidden = !wanted || saved || Boolean(store.get('sessionStorage', 'tapeway.hint'));
    for (const button of buttons) button.hidden = !wanted || !servers.length;
  }

  const server = () => servers.find(({ name }) => name === $('model-server').value);

  function showServer() {
    const chosen = server();
    $('model-address-row').hidden = Boolean(chosen);
    $('model-address').required = !chosen;
    $('model-name').value = chosen?.model ?? '';
    $('model-key').required = Boolean(chosen?.needs_key);
    $('model-key-about').textContent = chosen?.needs_key ? '' : t('(optional)');
  }

  function showError(sentence) {
    $('model-error').hidden = !sentence;
    $('model-error').textContent = sentence;
  }

  function setBusy(on) {
    $('model-try').disabled = on;
    $('model-state').textContent = on ? t('Asking the model for a word…') : '';
  }

  function open() {
    const options = [...servers.map(({ name, title }) => new Option(title, name)), new Option(t('Another server'), ANOTHER)];
    $('model-server').replaceChildren(...options);
    showError('');
    setBusy(false);
    showServer();
    dialog.showModal();
  }

  for (const button of buttons) button.addEventListener('click', open);

  $('model-server').addEventListener('change', showServer);
  $('model-cancel').addEventListener('click', () => dialog.close());
  $('hint-close').addEventListener('click', () => {
    store.set('sessionStorage', 'tapeway.hint', true);
    showNotice();
    onClosed();
  });
  dialog.addEventListener('close', () => {
    $('model-key').value = ''; // a secret does not stay in the page
    onClosed();
  });

  $('model-form').addEventListener('submit', async (event) => {
    event.preventDefault();
    showError('');
    setBusy(true);
    try {
      const { said } = await ask('/api/model', {
        server: server()?.name ?? '',
        address: $('model-address').value,
        model: $('model-name').value,
        key: $('model-key').value,
      }, 90_000);
      saved = true;
      showNotice();
      dialog.close();
      announce(t('{0}. It answers from now on', said));
    } catch (error) {
      showError(error.message);
    } finally {
      setBusy(false);
    }
  });

  return {
    // What the gateway says when it is reached: whether its owner should set up a model.
    async show(isWanted) {
      if (!isWanted) saved = false;
      wanted = isWanted;
      if (wanted && !servers.length) {
        // A gateway that cannot start again by itself has no such page.
        try { servers = await ask('/api/model'); } catch { servers = []; }
      }
      showNotice();
    },
  };
}
