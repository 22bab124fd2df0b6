import {backendConformance} from 'mycli/testing';
import {describe, expect, test} from 'vitest';
import {portalBackend} from '../src/backend.js';
import {openPortal} from './portal.js';

/** A busy machine takes long for the lists of a hundred. */
const caseTimeoutMs = 300_000;

describe('the contract of mycli', () => {
  for (const {name, run} of backendConformance(() => portalBackend, {openService: openPortal, caseTimeoutMs}))
    test(name, run);
});

describe('a login', () => {
  test('that is declined on the page is refused with a code', async () => {
    const portal = await openPortal();
    const [login] = backendConformance(() => portalBackend, {
      openService: async () => ({...portal, visit: (url) => portal.visit(`${url}&deny`)}),
    }).filter(({name}) => name === 'login: the service accepts what it returns');
    await expect(login?.run()).rejects.toMatchObject({
      message:
        'Expected login() to succeed. The backend failed with ERR_FORBIDDEN: The login was declined on the page.',
    });
  });
});
