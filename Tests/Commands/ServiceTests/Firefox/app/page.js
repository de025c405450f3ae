// A page of an app: it starts the client, and subscribes after a click.
import { TacetClient } from '/clients/tacet.js'

const show = text => { document.querySelector('#state').textContent = text }
const client = new TacetClient({ origin: location.origin, token: async () => '{token}' })

async function start() {
  globalThis.registration = await navigator.serviceWorker.register('/sw.js')
  show(await client.webPush.check())
}

document.querySelector('#address').textContent = location.pathname
document.querySelector('#subscribe').onclick = () => { globalThis.subscribed = client.webPush.enable().then(show) }
globalThis.ready = start()
