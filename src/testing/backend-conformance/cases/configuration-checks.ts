import assert from 'node:assert/strict';
import type {Check} from '../check.js';
import {usableOptions, validateOptions} from '../settings.js';
import {watchNetwork} from '../watch-network.js';

/** What `check` of a backend owes. */
export const configurationChecks: readonly Check[] = [
  {
    name: 'check: finds it configured without the network',
    async run(scope) {
      const {backend, service, projectSlug, targetSlug, recording} = await scope.open();
      const options = await usableOptions(backend, service.options);
      const {result, reached} = await watchNetwork(() =>
        backend.check({options, env: service.env ?? {}, logger: recording.logger, projectSlug, targetSlug}),
      );
      assert.deepEqual(result.missing ?? [], [], 'check() misses something in the settings of the fixtures');
      assert.ok(!reached, 'check() reached for the network');
    },
  },
  {
    name: 'check: names what is missing',
    async run(scope) {
      const {backend, fixtures, recording} = await scope.open();
      const {options: given = {}, env = {}} = fixtures.unconfigured ?? {};
      const {value: options, problems} = await validateOptions(backend, given);
      if (problems.length > 0) return;
      const {configured, missing = []} = await backend.check({options, env, logger: recording.logger});
      assert.ok(!configured, 'check() finds a backend configured that is not, see "unconfigured" of the fixtures');
      assert.ok(
        missing.length > 0 && missing.every((name) => name.trim() !== ''),
        'check() does not tell what is missing',
      );
    },
  },
];
