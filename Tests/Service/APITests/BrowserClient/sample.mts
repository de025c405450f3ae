// A program that uses all of `tacet.d.ts`. It is compiled and never run.

import {
  CapacitorScheduler, ElectronScheduler, indexedStorage, localStorageStorage, memoryStorage, TacetClient, TacetError,
} from '../../../../Sources/Service/API/BrowserClient/tacet.js';
import type {
  Scheduler, Surface, TacetStorage, UserSlots, WebPushState,
} from '../../../../Sources/Service/API/BrowserClient/tacet.js';

const stores: TacetStorage[] = [indexedStorage(indexedDB), localStorageStorage(localStorage), memoryStorage()];

const client = new TacetClient({ origin: 'https://push.example.com', token: async () => 'token', storage: stores[0] });
const surface: Surface = { kind: 'conversation', id: '1' };

export async function useAll(): Promise<void> {
  await client.register({ token: 'ab', authorization: 'authorized', platform: 'ios' });
  await client.removeDevice('ab');
  const preferences = await client.preferences();
  await client.setPreferences({ ...preferences, disabled_kinds: ['meal'] });
  client.presence.show(surface);
  client.presence.stop();
  const { badge, read } = await client.markRead('1', { upTo: '2' });
  const slots: UserSlots = await client.slots('ritual');
  const schedule = await client.choose(slots, 'ritual');
  const known = await client.schedule({ days: 1 });
  const same = await client.schedule({ unless: known });
  const { queued, reason } = await client.deliver('0800', 'ritual');
  const streak = (await client.takeAction('DID_THIS', 'ritual.0800.2026-11-22'))?.streak ?? 0;
  await client.record({ code: 'delivered', identifier: 'ritual.0800.2026-11-22' });
  await client.flush();
  client.deviceToken = undefined;
  console.log(badge + read + streak, schedule.rows[0]?.title.length, same?.tag, queued, reason?.length);
}

export async function tap(): Promise<WebPushState> {
  try {
    return await client.webPush.enable({ locale: 'de' });
  } catch (error) {
    if (error instanceof TacetError && error.code === 'needs_tap') return 'off';
    throw error;
  }
}

const own: Scheduler = {
  pending: async () => [], arm: async (row, seconds) => void [row.at, seconds], cancel: async () => {},
};
export const keeper = client.armSchedule(
  own, { onError: (error) => console.error(error), onSettingsHint: (open) => open() },
);

export async function wrapped(plugin: object, app: object, capacitor: { getPlatform(): string }): Promise<() => void> {
  const scheduler = new CapacitorScheduler(plugin, capacitor);
  return scheduler.connect(
    client, client.armSchedule(scheduler), { app, onOpen: ({ action }) => console.log(action?.length) },
  );
}

export function desktop(electron: { app: object; Notification: object }): () => void {
  const scheduler = new ElectronScheduler(
    electron, { appUserModelId: 'com.example', onOpen: ({ data }) => console.log(data) },
  );
  return scheduler.connect(client, client.armSchedule(scheduler));
}

// @ts-expect-error A code of an event is one of the service's.
void client.record({ code: 'lost' });
// @ts-expect-error A client needs a token.
void new TacetClient({ origin: 'https://push.example.com' });
