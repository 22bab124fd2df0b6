import assert from 'node:assert/strict';
import {Writable} from 'node:stream';
import {assertSameBytes, readBytes} from '../bytes.js';
import {assertAbortEnds, assertHasCode, failureOf, type Check} from '../check.js';
import {deleteBundle, download, listBundles, unknownIdLike} from '../steps.js';

/** What the capability `download` promises. */
export const downloadChecks: readonly Check[] = [
  {
    name: 'download: gives the bytes that were uploaded',
    async run(scope) {
      const subject = await scope.open();
      const bundle = await subject.makeBundle();
      const bundleId = await subject.upload(bundle);
      const {writeTo, pieces} = collect();
      await download(subject, {bundleId, writeTo});
      assertSameBytes(bundle, await readBytes(Buffer.concat(pieces)), 'the download gave');
    },
  },
  {
    name: 'download: an abort ends it within a second',
    async run(scope) {
      const subject = await scope.open();
      const bundleId = await subject.upload(await subject.makeBundle());
      await assertAbortEnds('the download', async (signal, abort) => {
        // Takes one piece and is not done with it.
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
      const error = await failureOf('downloading a bundle that there is not', download(subject, {bundleId, writeTo}));
      assertHasCode(error);
    },
  },
];

/** What the capability `delete` promises. */
export const deleteChecks: readonly Check[] = [
  {
    name: 'delete: the bundle is gone, the others stay',
    async run(scope) {
      const subject = await scope.open();
      const {backend, service} = subject;
      const [kept, unwanted] = [await subject.makeBundle(), await subject.makeBundle()];
      const keptId = await subject.upload(kept);
      const unwantedId = await subject.upload(unwanted);
      await deleteBundle(subject, unwantedId);
      if (backend.capabilities.includes('list')) {
        const {items} = await listBundles(subject, {limit: 100, offset: 0});
        assert.ok(!items.some(({bundleId}) => bundleId === unwantedId), 'the deleted bundle is still listed');
      }
      const left = await service
        .readUploaded(unwantedId)
        .then(readBytes)
        .catch(() => undefined);
      assert.equal(left, undefined, 'the service still has the deleted bundle');
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
