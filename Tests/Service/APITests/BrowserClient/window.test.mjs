import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { comingRows, instantOf, isRow, offsetAt } from '../../../../Sources/Service/API/BrowserClient/tacet-window.js';

const row = {
  identifier: 'a.0800.2026-11-22', campaign: 'a', slot: '0800', fire_date: '', fire_at: '', category: '', thread_id: '',
  local_time: '2026-11-22T08:00:00', title: '', body: '', data: {}, tolerance_seconds: 0,
};

describe('A local time', () => {
  for (const [zone, local, instant] of [
    ['Europe/Vienna', '2027-03-28T01:59:59', '2027-03-28T00:59:59Z'],
    ['Europe/Vienna', '2027-03-28T02:00:00', '2027-03-28T01:00:00Z'],
    ['Europe/Vienna', '2027-03-28T02:59:59', '2027-03-28T01:59:59Z'],
    ['Europe/Vienna', '2027-03-28T03:00:00', '2027-03-28T01:00:00Z'],
    ['Europe/Vienna', '2027-03-28T08:00:00', '2027-03-28T06:00:00Z'],
    ['Europe/Vienna', '2027-03-27T08:00:00', '2027-03-27T07:00:00Z'],
    ['Europe/Vienna', '2026-10-25T01:59:59', '2026-10-24T23:59:59Z'],
    ['Europe/Vienna', '2026-10-25T02:00:00', '2026-10-25T00:00:00Z'],
    ['Europe/Vienna', '2026-10-25T02:59:59', '2026-10-25T00:59:59Z'],
    ['Europe/Vienna', '2026-10-25T03:00:00', '2026-10-25T02:00:00Z'],
    ['America/New_York', '2027-03-14T02:30:00', '2027-03-14T07:30:00Z'],
    ['Australia/Lord_Howe', '2026-10-04T02:15:00', '2026-10-03T15:45:00Z'],
    ['Asia/Kathmandu', '2026-11-22T00:00:00', '2026-11-21T18:15:00Z'],
    ['Pacific/Kiritimati', '2026-11-22T00:00:00', '2026-11-21T10:00:00Z'],
    ['Asia/Tokyo', '2026-12-31T23:59:59', '2026-12-31T14:59:59Z'],
    ['Nowhere/At_All', '2026-11-22T00:00:00', '2026-11-22T00:00:00Z'],
  ]) {
    test(`${local} in ${zone} is ${instant}`, () => {
      assert.equal(new Date(instantOf(local, zone)).toISOString().replace('.000', ''), instant);
    });
  }

  test('has an offset that keeps milliseconds', () => {
    assert.equal(offsetAt(Date.parse('2026-11-22T00:00:00.999Z'), 'Europe/Vienna'), 3_600_000);
  });
});

describe('A row', () => {
  const nested = (depth) => JSON.parse('{"x":'.repeat(depth) + '1' + '}'.repeat(depth));
  for (const [name, members, isGood] of [
    ['that is complete', {}, true], ['with unknown members', { more: 1 }, true],
    ['without data', { data: undefined }, false],
    ['with a list as data', { data: [] }, false],
    ['with 4096 characters of data', { data: { a: 'x'.repeat(4088) } }, true],
    ['with 4097 characters of data', { data: { a: 'x'.repeat(4089) } }, false],
    ['with deep data', { data: nested(5000) }, false],
    ['with a title of 1000', { title: 'x'.repeat(1000) }, true],
    ['with a title of 1001', { title: 'x'.repeat(1001) }, false],
    ['with a body of 4000', { body: 'x'.repeat(4000) }, true],
    ['with a body of 4001', { body: 'x'.repeat(4001) }, false],
    ['with a tolerance of a day', { tolerance_seconds: 86_400 }, true],
    ['with a longer one', { tolerance_seconds: 86_401 }, false],
    ['with a negative one', { tolerance_seconds: -1 }, false],
    ['at 24:00', { local_time: '2026-11-22T24:00:00' }, false],
    ['on 29 February 2028', { local_time: '2028-02-29T08:00:00' }, true],
    ['on 29 February 2027', { local_time: '2027-02-29T08:00:00' }, false],
    ['at a zoned time', { local_time: '2026-11-22T08:00:00Z' }, false],
  ]) {
    test(`${name} is ${isGood ? 'read' : 'refused'}`, () => assert.equal(isRow({ ...row, ...members }), isGood));
  }

  test('that is due with another has a place by its identifier', () => {
    const rows = ['c', 'a', 'b'].map((campaign) => ({ ...row, identifier: `${campaign}.0800.2026-11-22` }));
    const order = comingRows(rows, 0, 'UTC').map(({ identifier }) => identifier[0]);
    assert.deepEqual(order, ['a', 'b', 'c']);
  });
});
