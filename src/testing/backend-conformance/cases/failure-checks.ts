import assert from 'node:assert/strict';
import {assertHasCode, failureOf, requireFault, type Check} from '../check.js';

/** How the failures of a service come up. */
export const failureChecks: readonly Check[] = [
  {
    name: 'upload: a rate limit that does not end is told as such',
    async run(scope) {
      const subject = await scope.open();
      const bundle = await subject.makeBundle();
      await requireFault(subject.service, 'limitUploads')(Infinity);
      const {code, message} = await failureOf('an upload that met nothing but rate limits', subject.upload(bundle));
      assert.equal(code, 'ERR_RATE_LIMITED', message);
    },
  },
  {
    name: 'upload: refused credentials are told as such',
    async run(scope) {
      const subject = await scope.open();
      const bundle = await subject.makeBundle();
      await requireFault(subject.service, 'refuseCredentials')();
      const {code, message} = await failureOf('an upload with refused credentials', subject.upload(bundle));
      assert.ok(['ERR_UNAUTHORIZED', 'ERR_FORBIDDEN', 'ERR_OAUTH'].includes(code), `${code}: ${message}`);
    },
  },
  {
    name: 'upload: a failure of the service is told with a code',
    async run(scope) {
      const subject = await scope.open();
      const bundle = await subject.makeBundle();
      await requireFault(subject.service, 'failUploads')();
      assertHasCode(await failureOf('an upload that the service failed', subject.upload(bundle)));
    },
  },
];
