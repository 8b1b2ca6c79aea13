// Sends an archive in pieces, and goes on where it broke. Without scripts the form sends it whole.
const form = document.querySelector('form[data-upload]');
const piece = 4 << 20;
const patience = 6;      // tries before a person is asked to press again

async function send(file) {
  const progress = form.querySelector('progress'), told = form.querySelector('[role=status]');
  const address = `${form.dataset.upload}?` + new URLSearchParams({
    what: form.elements.what.value, name: file.name, size: file.size, modified: file.lastModified });
  const headers = { 'Content-Type': 'application/octet-stream', 'X-Form-Token': form.elements.csrf.value };
  progress.max = file.size;
  progress.hidden = false;
  let offset = null, tries = 0;
  while (tries < patience) {
    try {
      const answer = offset === null
        ? await fetch(address)
        : await fetch(`${address}&offset=${offset}`, { method: 'POST', headers, body: file.slice(offset, offset + piece) });
      const text = await answer.text();
      if (answer.ok && text === 'done') { location.href = form.dataset.next; return }
      // The server says why, and another try would end in the same way.
      if (!answer.ok && answer.status !== 503) { told.textContent = text; return }
      if (!answer.ok) throw new Error(text);
      offset = progress.value = Number(text);
      told.textContent = form.dataset.sayShare
        .replace('{0}', Math.floor(100 * offset / file.size)).replace('{1}', () => file.name);
      tries = 0;
    } catch {
      tries += 1;
      await new Promise(resume => setTimeout(resume, 250 * 2 ** tries));
    }
  }
  told.textContent = form.dataset.sayBroken;
}

if (form) {
  form.addEventListener('submit', async event => {
    event.preventDefault();
    const button = form.querySelector('button'), file = form.querySelector('input[type=file]').files[0];
    if (!file || button.disabled) return;
    button.disabled = true;
    await send(file);
    button.disabled = false;
  });
}
