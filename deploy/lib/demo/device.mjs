// An app's device of the demo: arms a week of slots, goes offline, travels, and returns. Prints what is armed after each: all that the day's pushes have left of the week.
//
//   node device.mjs SERVICE CLIENT_TOKEN DEVICE_TOKEN HOME_ZONE OTHER_ZONE
import { memoryStorage, TacetClient } from '../../../Sources/Service/API/BrowserClient/tacet.js';

const [service, token, deviceToken, home, abroad] = process.argv.slice(2);
const armed = new Map();
let zone = home;
let isOnline = true;

/** Local notifications, as a system keeps them. */
const scheduler = {
  pending: async () => [...armed.keys()],
  arm: async (row) => void armed.set(row.identifier, new Date(row.at).toISOString()),
  cancel: async (identifiers) => identifiers.forEach((identifier) => armed.delete(identifier)),
  permission: async () => 'authorized',
};

const client = new TacetClient({
  origin: service,
  token: () => token,
  deviceToken,
  storage: memoryStorage(),
  platform: {
    fetch: (...request) => (isOnline ? fetch(...request) : Promise.reject(new TypeError('fetch failed'))),
    zone: () => zone,
  },
});

/** The day and time of each armed row, on the clock of the zone that the device is in. */
const times = () => [...new Set([...armed.values()].map((at) =>
  new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: '2-digit', minute: '2-digit' }).format(new Date(at))))].sort().join(' ');
const say = (step) => console.log(`${step}: ${armed.size >= 11 ? 'the week' : armed.size} at ${times()}`);

await client.register({ token: deviceToken, platform: 'ios', time_zone: zone });
const keeper = client.armSchedule(scheduler);
await keeper.keep();
say('at home');

isOnline = false;
await keeper.keep();
say('offline');

zone = abroad;
await keeper.keep();
say('offline, in another zone');

isOnline = true;
await client.register({ token: deviceToken, platform: 'ios', time_zone: zone });
await keeper.keep();
say('online again, there');

zone = home;
await client.register({ token: deviceToken, platform: 'ios', time_zone: zone });
await keeper.keep();
say('back at home');

keeper.stop();
process.exit(0);
