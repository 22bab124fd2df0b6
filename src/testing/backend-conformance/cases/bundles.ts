import assert from 'node:assert/strict';
import {Writable} from 'node:stream';
import type {BundleFormat, DownloadStart} from '../../../backends/contract.js';
import {assertAbortEnds, requireFault, assertHasCode, failureOf, type Check} from '../check.js';
import {stallHalfWay} from '../fixtures.js';
import {deleteBundle, download, listBundles, unknownIdLike} from '../steps.js';
import {assertDigestTold, assertSameBytes, readBytes} from '../subject.js';

/** Cases for uploads in each format; `streamed`: of a bundle that is packed while it is sent. */
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
      name: `${what}: progress rises to 100 %`,
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
        await assertAbortEnds('The upload', subject, async (signal, abort) => {
          // A backend that reads the archive by its path does not stall, but has started once there is progress.
          subject.recording.afterProgress = ({transferred}) => {
            if (transferred > 0) abort();
          };
          await subject.upload(await stallHalfWay(bundle, abort), {signal, streamed});
        });
        await subject.assertKept(0, 'an aborted upload');
      },
    },
    {
      name: `${what}: the whole body is resent after a rate limit`,
      async run(scope) {
        const subject = await scope.open();
        const bundle = await subject.makeBundle(format);
        await requireFault(subject.service, 'limitUploads')(1);
        const bundleId = await subject.upload(bundle, {streamed});
        assert.ok(
          subject.recording.retries > 0,
          'The rate-limited upload was not retried. Send it with context.http, or call context.waitToRetry().',
        );
        await subject.assertArrived(bundle, bundleId);
        await subject.assertKept(1, 'a repeated upload');
      },
    },
  ];
}

function assertClimbs(reports: readonly {readonly transferred: number; readonly total?: number | undefined}[]): void {
  let before = 0;
  for (const {transferred, total} of reports) {
    assert.ok(
      transferred >= before,
      `Progress went backwards, from ${String(before)} to ${String(transferred)} bytes.`,
    );
    assert.ok(
      total === undefined || transferred <= total,
      `Progress exceeds the total: ${String(transferred)} of ${String(total)} bytes.`,
    );
    before = transferred;
  }
  const last = reports.at(-1);
  assert.ok(last, 'No progress was reported. Use context.bodies, or call context.onProgress().');
  assert.equal(last.transferred, last.total, 'The last progress report is not 100 %.');
}

/** Cases for the capability `download`. */
export const downloadChecks: readonly Check[] = [
  {
    name: 'download: returns the uploaded bytes',
    async run(scope) {
      const subject = await scope.open();
      const bundle = await subject.makeBundle();
      const bundleId = await subject.upload(bundle);
      const {writeTo, pieces} = collect();
      const starts: DownloadStart[] = [];
      await download(subject, {bundleId, writeTo, onStart: (start) => void starts.push(start)});
      assertDigestTold(bundle, starts.at(-1), 'The download');
      assertSameBytes(bundle, await readBytes(Buffer.concat(pieces)), 'The download has');
    },
  },
  {
    name: 'download: an abort ends it within a second',
    async run(scope) {
      const subject = await scope.open();
      const bundleId = await subject.upload(await subject.makeBundle());
      await assertAbortEnds('The download', subject, async (signal, abort) => {
        // Accepts one chunk and never finishes it.
        const writeTo = new Writable({write: abort});
        await download(subject, {bundleId, writeTo}, signal);
      });
    },
  },
  {
    name: 'download: an unknown bundle is refused with a code',
    async run(scope) {
      const subject = await scope.open();
      const bundleId = unknownIdLike(await subject.upload(await subject.makeBundle()));
      const {writeTo} = collect();
      const error = await failureOf('Downloading a bundle that does not exist', download(subject, {bundleId, writeTo}));
      assertHasCode(error);
    },
  },
];

/** Cases for the capability `delete`. */
export const deleteChecks: readonly Check[] = [
  {
    name: 'delete: removes the bundle and no other',
    async run(scope) {
      const subject = await scope.open();
      const {backend} = subject;
      const [kept, unwanted] = [await subject.makeBundle(), await subject.makeBundle()];
      const keptId = await subject.upload(kept);
      const unwantedId = await subject.upload(unwanted);
      await deleteBundle(subject, unwantedId);
      if (backend.listBundles) {
        const {items} = await listBundles(subject, {limit: 100, offset: 0});
        assert.ok(!items.some(({bundleId}) => bundleId === unwantedId), 'The deleted bundle is still listed.');
      }
      assert.ok(!(await subject.hasUploaded(unwanted, unwantedId)), 'The service still has the deleted bundle.');
      await subject.assertArrived(kept, keptId);
    },
  },
];

function collect(): {readonly writeTo: Writable; readonly pieces: readonly Buffer[]} {
  const pieces: Buffer[] = [];
  const writeTo = new Writable({
    write(piece: Buffer, _, done) {
      pieces.push(piece);
      done();
    },
  });
  return {writeTo, pieces};
}
