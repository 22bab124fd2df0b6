import {once} from 'node:events';
import {createServer} from 'node:http';
import process from 'node:process';
import {json} from 'node:stream/consumers';
import {afterEach, describe, expect, test} from 'vitest';
import after from '../src/after.js';
import beforeWrite from '../src/before-write.js';
import {endOfFreeze} from '../src/windows.js';

const {signal} = new AbortController();
const names = ['FREEZE_WINDOWS', 'FREEZE_TARGETS', 'NOTIFY_URL'];

afterEach(() => {
  for (const name of names) Reflect.deleteProperty(process.env, name);
});

/** @param {string | undefined} targetSlug */
const push = (targetSlug) =>
  /** @type {const} */ ({
    operation: 'push',
    backend: 'api',
    projectSlug: 'shop',
    targetSlug,
    bundleIds: [],
    dryRun: false,
    signal,
  });

describe('a freeze', () => {
  const windows = '2026-12-20T00:00Z/2027-01-02T06:00Z 2026-12-31T00:00Z/2027-01-04T00:00Z';

  test.each([
    ['2026-12-19T23:59Z', undefined],
    ['2026-12-20T00:00Z', '2027-01-02T06:00:00.000Z'],
    ['2027-01-01T00:00Z', '2027-01-04T00:00:00.000Z'],
    ['2027-01-04T00:00Z', undefined],
  ])('at %s lasts until %s', (now, end) => {
    expect(endOfFreeze(windows, new Date(now))?.toISOString()).toBe(end);
  });

  test('vetoes what is deployed to its targets, and nothing else', async () => {
    process.env['FREEZE_WINDOWS'] = '2000-01-01T00:00Z/2999-01-01T00:00Z';
    process.env['FREEZE_TARGETS'] = 'production www';
    expect(await beforeWrite(push('production'))).toEqual({
      veto: 'production is frozen until 2999-01-01T00:00:00.000Z',
    });
    expect(await beforeWrite(push('staging'))).toBeUndefined();
    expect(await beforeWrite(push(undefined))).toBeUndefined();
    process.env['FREEZE_TARGETS'] = '';
    expect(await beforeWrite(push('staging'))).toHaveProperty('veto');
  });

  test.each(['tomorrow', '2026-12-20T00:00Z', '2027-01-02T06:00Z/2026-12-20T00:00Z'])(
    'that says %s stops every change',
    async (window) => {
      process.env['FREEZE_WINDOWS'] = window;
      await expect(beforeWrite(push('staging'))).rejects.toThrow(`an invalid interval: ${window}`);
    },
  );
});

describe('a webhook', () => {
  test('gets the outcome, and its refusal is an error', async () => {
    /** @type {unknown[]} */
    const bodies = [];
    const server = createServer(async (request, response) => {
      bodies.push(await json(request));
      response.writeHead(bodies.length === 1 ? 204 : 500).end();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const address = server.address();
    if (typeof address !== 'object' || address === null) throw new Error('not listening');
    process.env['NOTIFY_URL'] = `http://127.0.0.1:${address.port}`;
    const outcome = {...push('staging'), outcome: /** @type {const} */ ('succeeded'), url: 'https://shop.example'};
    try {
      await after(outcome);
      expect(bodies).toEqual([
        expect.objectContaining({text: 'push of shop to staging succeeded: https://shop.example', backend: 'api'}),
      ]);
      await expect(after(outcome)).rejects.toThrow('the webhook answered 500');
    } finally {
      server.close();
    }
  });

  test('that is not set is not called', async () => {
    await after({...push('staging'), outcome: 'succeeded'});
  });
});
