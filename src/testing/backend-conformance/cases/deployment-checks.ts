import assert from 'node:assert/strict';
import type {BundleFormat, DeploymentRef} from '../../../backends/contract.js';
import {assertHasCode, failureOf, type Check} from '../check.js';
import {plainJsonProblem} from '../plain-json.js';
import {deploy, pushToTarget, unknownIdLike, waitUntilFinished} from '../steps.js';

/** What the capability `deploy` promises. */
export const deployChecks: readonly Check[] = [
  {
    name: 'deploy: answers a reference of plain JSON',
    async run(scope) {
      const subject = await scope.open();
      const bundleId = await subject.upload(await subject.makeBundle());
      assertPlainJson(await deploy(subject, bundleId));
    },
  },
  {
    name: 'deploy: an unknown bundle is refused with a code',
    async run(scope) {
      const subject = await scope.open();
      const unknown = unknownIdLike(await subject.upload(await subject.makeBundle()));
      assertHasCode(await failureOf('deploying a bundle that there is not', deploy(subject, unknown)));
    },
  },
];

/** What the capability `wait` promises in each format. */
export function waitChecks(format: BundleFormat): readonly Check[] {
  return [
    {
      name: `wait (${format}): a push to a target reaches finished`,
      async run(scope) {
        const subject = await scope.open();
        const deployment = await pushToTarget(subject, format);
        // What waits may be another process: it has nothing but the JSON.
        await waitUntilFinished(scope.reopen(subject), JSON.parse(JSON.stringify(deployment)) as DeploymentRef);
      },
    },
  ];
}

function assertPlainJson(deployment: DeploymentRef): void {
  assert.equal(plainJsonProblem(deployment, 'deployment'), undefined);
}
