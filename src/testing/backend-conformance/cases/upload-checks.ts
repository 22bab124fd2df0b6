import assert from 'node:assert/strict';
import type {BundleFormat} from '../../../backends/contract.js';
import {assertAbortEnds, requireFault, type Check} from '../check.js';
import {stallHalfWay} from '../test-bundle.js';

/** What an upload owes in each format; `streamed`: of a bundle that is packed while it is sent. */
export function uploadChecks(format: BundleFormat, {streamed = false} = {}): readonly Check[] {
  const what = streamed ? `uploadStream (${format})` : `upload (${format})`;
  return [
    {
      name: `${what}: every byte arrives`,
      async run(scope) {
        const subject = await scope.open();
        const bundle = await subject.makeBundle(format);
        await subject.assertArrived(bundle, await subject.upload(bundle, {streamed}));
      },
    },
    {
      name: `${what}: progress climbs to 100 %`,
      async run(scope) {
        const subject = await scope.open();
        await subject.upload(await subject.makeBundle(format), {streamed});
        assertClimbs(subject.recording.attempts.flat());
      },
    },
    {
      name: `${what}: an abort ends it within a second`,
      async run(scope) {
        const subject = await scope.open();
        const bundle = await subject.makeBundle(format);
        await assertAbortEnds('the upload', async (signal, abort) => {
          // Whoever reads the archive by its path does not stall, but is on the way once there is progress.
          subject.recording.afterProgress = ({transferred}) => {
            if (transferred > 0) abort();
          };
          await subject.upload(await stallHalfWay(bundle, abort), {signal, streamed});
        });
      },
    },
    {
      name: `${what}: a rate limit is waited out and the whole body sent again`,
      async run(scope) {
        const subject = await scope.open();
        const bundle = await subject.makeBundle(format);
        await requireFault(subject.service, 'limitUploads')(1);
        const bundleId = await subject.upload(bundle, {streamed});
        assert.ok(
          subject.recording.retries > 0,
          'the upload met a rate limit and was not sent again: send it with context.http, or ask context.waitToRetry()',
        );
        await subject.assertArrived(bundle, bundleId);
      },
    },
  ];
}

function assertClimbs(reports: readonly {readonly transferred: number; readonly total?: number | undefined}[]): void {
  let before = 0;
  for (const {transferred, total} of reports) {
    assert.ok(transferred >= before, `progress ran backwards, from ${String(before)} to ${String(transferred)} bytes`);
    assert.ok(
      total === undefined || transferred <= total,
      `${String(transferred)} bytes of ${String(total)} were sent`,
    );
    before = transferred;
  }
  const last = reports.at(-1);
  assert.ok(last, 'no progress was reported: use context.bodies, or call context.onProgress()');
  assert.equal(last.transferred, last.total, 'the last report of progress is not transferred = total');
}
