// Adds this browser to the devices that get notifications: it asks the person, then the browser's push service for an
// address, and sends that with the form. Where a browser cannot, the form stays hidden.
const form = document.querySelector('form[data-key]');
const told = form?.querySelector('[role=status]');

function bytes(text) {
  const plain = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(plain, sign => sign.charCodeAt(0));
}

function text(buffer) {
  return btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

async function subscribe() {
  await navigator.serviceWorker.register('/worker.js');
  const { pushManager } = await navigator.serviceWorker.ready;
  const applicationServerKey = bytes(form.dataset.key);
  const known = await pushManager.getSubscription();
  // One that was made with another key gets nothing any more.
  if (known && text(known.options.applicationServerKey) !== form.dataset.key) await known.unsubscribe();
  return pushManager.subscribe({ userVisibleOnly: true, applicationServerKey });
}

if (form && 'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window) {
  form.hidden = false;
  document.getElementById('unable').hidden = true;
  form.addEventListener('submit', async event => {
    event.preventDefault();
    const button = form.querySelector('button');
    button.disabled = true;
    told.textContent = '';
    try {
      if (await Notification.requestPermission() !== 'granted') {
        told.textContent = form.dataset.sayForbidden;
        return;
      }
      const subscription = await subscribe();
      form.elements.endpoint.value = subscription.endpoint;
      form.elements.p256dh.value = text(subscription.getKey('p256dh'));
      form.elements.auth.value = text(subscription.getKey('auth'));
      form.submit();
    } catch (error) {
      told.textContent = form.dataset.sayFailed.replace('{0}', () => error.message);
    } finally {
      button.disabled = false;
    }
  });
}
