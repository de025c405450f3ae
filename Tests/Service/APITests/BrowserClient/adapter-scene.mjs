// Rows, and what an adapter reports to.

export const row = (slot, day = '2026-11-22') => ({
  identifier: `ritual.${slot}.${day}`, campaign: 'ritual', slot, title: 'T', body: 'B', category: 'C', thread_id: 't',
  data: { type: 'ritual' }, at: Date.parse(`${day}T${slot.slice(0, 2)}:${slot.slice(2)}:00Z`), tolerance_seconds: 0,
});
export const [morning, evening] = [row('0800'), row('2000')];

/** A client and a keeper that note what they are told. */
export function listener() {
  const notes = [];
  const client = {
    record: async ({ code, identifier }) => void notes.push(`${code} ${identifier}`),
    takeAction: async (action, identifier) => void notes.push(`${action} ${identifier}`),
    flush: async () => void notes.push('flush'),
  };
  return { notes, client, keeper: { trigger: () => notes.push('trigger') } };
}
