import assert from 'node:assert/strict';
import type {Bundle} from '../../backends/contract.js';
import {failureOf, requireFault, type CaseScope, type Check} from '../check.js';
import type {Subject} from '../subject.js';

/** Cases for backends that resume uploads. `bytes`: the size of a bundle that they send in several parts. */
export function resumeChecks(bytes: number): readonly Check[] {
  return [
    {
      name: 'resume: only what is missing is sent again',
      async run(scope) {
        const {subject, bundle} = await interruptedUpload(scope, bytes);
        const {service} = subject;
        const countBytes = requireFault(service, 'countReceivedBytes');
        const before = await countBytes();
        const next = scope.reopen(subject);
        const bundleId = await next.upload(bundle);
        await next.assertArrived(bundle, bundleId);
        const sent = (await countBytes()) - before;
        assert.ok(
          sent > 0 && sent < bundle.size,
          `The second upload sent ${String(sent)} of ${String(bundle.size)} bytes, although the first was interrupted.`,
        );
        await next.assertKept(1, 'a resumed upload');
      },
    },
    {
      name: 'resume: an upload that the service does not know starts over',
      async run(scope) {
        const {subject, bundle} = await interruptedUpload(scope, bytes);
        const other = await scope.open();
        for (const [sha256, state] of subject.states) other.states.set(sha256, state);
        await other.assertArrived(bundle, await other.upload(bundle));
        await other.assertKept(1, 'an upload that started over');
      },
    },
    {
      name: 'resume: nothing is left of an upload without a state',
      async run(scope) {
        const subject = await scope.open();
        const bundle = await subject.makeBundle(undefined, {contentBytes: bytes});
        await requireFault(subject.service, 'interruptUploads')(true);
        await failureOf('An interrupted upload', subject.upload(bundle, {stateless: true}));
        await requireFault(subject.service, 'interruptUploads')(false);
        await subject.assertKept(0, 'an interrupted upload without "context.state"');
        await subject.assertArrived(bundle, await subject.upload(bundle, {stateless: true}));
      },
    },
  ];
}

/** Interrupts an upload, after which the service works again. */
async function interruptedUpload(
  scope: CaseScope,
  bytes: number,
): Promise<{readonly subject: Subject; readonly bundle: Bundle}> {
  const subject = await scope.open();
  const bundle = await subject.makeBundle(undefined, {contentBytes: bytes});
  const interrupt = requireFault(subject.service, 'interruptUploads');
  await interrupt(true);
  await failureOf('An interrupted upload', subject.upload(bundle));
  await interrupt(false);
  assert.ok(subject.states.size > 0, 'An upload was interrupted, and nothing is saved with "context.state".');
  return {subject, bundle};
}
