import assert from 'node:assert/strict';
import {Writable} from 'node:stream';
import {finished} from 'node:stream/promises';
import {setTimeout as delay} from 'node:timers/promises';
import type {
  BackendLimits,
  Bundle,
  BundleFormat,
  BundleId,
  DownloadResume,
  DownloadStart,
} from '../../backends/contract.js';
import {assertAbortEnds, assertUnknown, failureOf, NotTried, offered, type Check} from '../check.js';
import {countReads, hugeBytes, largeBytes, stallHalfWay, type BundleSize} from '../fixtures.js';
import {memoryInUse} from '../observations.js';
import {deleteBundle, download, listBundles, unknownIdLike} from '../steps.js';
import {assertDigestTold, assertSameBytes, readBytes, type Subject} from '../subject.js';

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
      name: `${what}: an abort in the middle ends it within a second`,
      async run(scope) {
        const subject = await scope.open();
        const bundle = await subject.makeBundle(format);
        await abortHalfWay(subject, bundle, {streamed});
      },
    },
    {
      name: `${what}: an abort leaves nothing behind`,
      async run(scope) {
        const subject = await scope.open();
        const count = offered(subject.service, 'countUploads');
        await abortHalfWay(subject, await subject.makeBundle(format), {streamed, stateless: true});
        const kept = await count();
        assert.equal(
          kept,
          0,
          `After an aborted upload, the service keeps ${String(kept)}. Remove what is incomplete in context.onAbort().`,
        );
      },
    },
    {
      name: `${what}: every byte of a large bundle arrives`,
      async run(scope) {
        const subject = await scope.open();
        const bundle = await subject.makeBundle(format, {contentBytes: largeBytes});
        await subject.assertArrived(bundle, await subject.upload(bundle, {streamed}));
      },
    },
    {
      name: `${what}: the bundle is not held in memory`,
      async run(scope) {
        const subject = await scope.open();
        await assertNotHeld(subject, await subject.makeHugeBundle(format), streamed);
      },
    },
  ];
}

/** The largest limits that are tried. */
const triedLimits = {maxBundleBytes: 32 * 1024 * 1024, maxFiles: 1000};

/** Cases for the limits that a backend has: bundles that just keep within them. */
export function limitChecks({maxBundleBytes, maxFiles}: BackendLimits): readonly Check[] {
  const within = (limit: keyof BackendLimits, value: number, size: BundleSize): Check => ({
    name: `limits: a bundle with the ${limit} of the backend is accepted`,
    async run(scope) {
      const most = triedLimits[limit];
      if (value > most) throw new NotTried(`${limit} is ${String(value)}, and at most ${String(most)} is tried.`);
      const subject = await scope.open();
      const bundle = await subject.makeBundle(undefined, size);
      const bundleId = await subject.upload(bundle).catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        assert.fail(
          `${limit} is ${String(value)}, but a bundle of ${String(bundle.size)} bytes with ` +
            `${String(bundle.files.length)} files was refused: ${reason}`,
        );
      });
      await subject.assertArrived(bundle, bundleId);
    },
  });
  return [
    ...(maxBundleBytes === undefined ? [] : [within('maxBundleBytes', maxBundleBytes, {contentBytes: maxBundleBytes})]),
    ...(maxFiles === undefined ? [] : [within('maxFiles', maxFiles, {files: maxFiles})]),
  ];
}

/** Aborts an upload in the middle, and asserts that it ends. */
async function abortHalfWay(
  subject: Subject,
  bundle: Bundle,
  options: {readonly streamed: boolean; readonly stateless?: boolean},
): Promise<void> {
  await assertAbortEnds('The upload', subject, async (signal, abort) => {
    // A backend that reads the archive by its path does not stall, but has started once there is progress.
    subject.recording.afterProgress = ({transferred}) => {
      if (transferred > 0) abort();
    };
    await subject.upload(await stallHalfWay(bundle, abort), {signal, ...options});
  });
}

/** More than what is read ahead, and than the parts that are sent at the same time; half of the huge bundle. */
const aheadBytes = hugeBytes / 2;
/** How much of a huge bundle is sent before it is clear that sending keeps up with reading. */
const enoughBytes = 32 * 1024 * 1024;
/** A stalled connection stays that way. In slices, so that a pause of the whole machine only counts as one. */
const stall = {slices: 10, sliceMs: 50};

/**
 * Asserts that reading a bundle waits for the service. A service that can hold requests takes nothing, so that reading
 * must stop soon; with any other, it must not run ahead of the progress. If it does, what was read may not be kept: the
 * backend may have read it for a digest. Memory alone says nothing, because it may be that of the service.
 */
async function assertNotHeld(subject: Subject, bundle: Bundle, streamed: boolean): Promise<void> {
  const controller = new AbortController();
  const abort = () => {
    controller.abort();
  };
  const before = memoryInUse();
  let [read, discarded, sent, held, isStalling] = [0, 0, 0, 0, false];
  const watched = countReads(bundle, (bytes) => {
    read += bytes;
    if (held > 0 || read - discarded - sent <= aheadBytes) return;
    const grown = memoryInUse() - before;
    if (grown < aheadBytes / 2) {
      discarded = read;
    } else {
      held = grown;
      abort();
    }
  });
  subject.recording.afterProgress = ({transferred}) => {
    sent = transferred;
    if (sent > enoughBytes) abort();
  };
  subject.relay.arm({
    ...{kind: 'hold', at: 1, count: Infinity},
    onHeld() {
      if (isStalling) return;
      isStalling = true;
      void untilStalled(() => read, controller.signal).then(abort);
    },
  });
  // A service may refuse the bundle, which contains nothing but zeros.
  await subject.upload(watched, {signal: controller.signal, streamed, stateless: true}).catch(() => undefined);
  abort();
  assert.equal(
    held,
    0,
    `The backend read ${String(read)} bytes of a bundle when the service had taken ${String(sent)}, and memory grew by ` +
      `${String(held)} bytes. Send the bundle while you read it, with context.bodies or a stream.`,
  );
}

/** Waits until `count` stops rising. */
async function untilStalled(count: () => number, signal: AbortSignal): Promise<void> {
  let before = count();
  for (let slice = 0; slice < stall.slices && !signal.aborted; slice += 1) {
    await delay(stall.sliceMs);
    if (count() !== before) slice = 0;
    before = count();
  }
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
      const {writeTo, written} = collect();
      const starts: DownloadStart[] = [];
      await download(subject, {bundleId, writeTo, onStart: (start) => void starts.push(start)});
      assertDigestTold(bundle, starts.at(-1), 'The download');
      const {offset = 0, total = bundle.size} = starts.at(-1) ?? {};
      assert.equal(offset, 0, `The download started at ${String(offset)}, although there was nothing to resume.`);
      assert.equal(total, bundle.size, `The download reports ${String(total)} of ${String(bundle.size)} bytes.`);
      assertSameBytes(bundle, await readBytes(await written()), 'The download has');
    },
  },
  {
    name: 'download: an abort in the middle ends it within a second',
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
      assertUnknown(error);
    },
  },
  {
    name: 'download: it resumes where it stopped, or starts over',
    async run(scope) {
      const subject = await scope.open();
      const bundle = await subject.makeBundle();
      const bundleId = await subject.upload(bundle);
      const {validator} = await fetchArchive(subject, bundleId);
      // Without a validator, the host never resumes.
      if (validator === undefined) return;
      const offset = Math.floor(bundle.size / 2);
      assertResumed(bundle, offset, await fetchArchive(subject, bundleId, {offset, validator}));
    },
  },
  {
    name: 'download: a different archive is not resumed',
    async run(scope) {
      const subject = await scope.open();
      const [one, other] = [await subject.makeBundle(), await subject.makeBundle()];
      const bundleId = await subject.upload(one);
      const {validator} = await fetchArchive(subject, bundleId);
      const {validator: otherValidator} = await fetchArchive(subject, await subject.upload(other));
      if (validator === undefined || otherValidator === undefined) return;
      assert.notEqual(
        validator,
        otherValidator,
        'Two archives have the same validator, so one would continue the other.',
      );
      const resume = {offset: Math.floor(one.size / 2), validator: otherValidator};
      const {offset} = await fetchArchive(subject, bundleId, resume);
      assert.equal(
        offset,
        0,
        'The download was resumed although the validator is that of another archive. Send it as If-Range, or compare it.',
      );
    },
  },
];

interface FetchedArchive {
  readonly content: Buffer;
  /** Where it starts, as reported by the backend. */
  readonly offset: number;
  readonly total?: number | undefined;
  readonly validator?: string | undefined;
}

async function fetchArchive(subject: Subject, bundleId: BundleId, resume?: DownloadResume): Promise<FetchedArchive> {
  const {writeTo, written} = collect();
  let started: DownloadStart | undefined;
  const onStart = (start: DownloadStart) => {
    started = start;
  };
  await download(subject, {bundleId, writeTo, onStart, resume});
  const {offset = 0, total, validator} = started ?? {};
  return {content: await written(), offset, total, validator};
}

function assertResumed(bundle: Bundle, resumedAt: number, {content, offset, total}: FetchedArchive): void {
  assert.ok(
    offset === 0 || offset === resumedAt,
    `The download was resumed at ${String(offset)}, not at ${String(resumedAt)} or from the start.`,
  );
  const missing = bundle.size - offset;
  assert.equal(
    content.length,
    missing,
    `The resumed download says that it starts at ${String(offset)}, so ${String(missing)} bytes must follow, but ` +
      `${String(content.length)} did.`,
  );
  assert.ok(total === undefined || total === bundle.size, `The total of a resumed download is ${String(total)}.`);
}

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
      await subject.nextInstant();
      if (backend.listBundles) {
        const {items} = await listBundles(subject, {limit: 100, offset: 0});
        assert.ok(!items.some(({bundleId}) => bundleId === unwantedId), 'The deleted bundle is still listed.');
      }
      assert.ok(!(await subject.hasUploaded(unwanted, unwantedId)), 'The service still has the deleted bundle.');
      await subject.assertArrived(kept, keptId);
    },
  },
  {
    name: 'delete: a bundle with the same content stays',
    async run(scope) {
      const subject = await scope.open();
      const bundle = await subject.makeBundle();
      const [keptId, unwantedId] = [await subject.upload(bundle), await subject.upload(bundle)];
      // A service may store equal archives once.
      if (keptId === unwantedId) return;
      await deleteBundle(subject, unwantedId);
      await subject.assertArrived(bundle, keptId);
    },
  },
  {
    name: 'delete: an unknown bundle is refused with a code',
    async run(scope) {
      const subject = await scope.open();
      const bundleId = await subject.upload(await subject.makeBundle());
      const unknown = deleteBundle(subject, unknownIdLike(bundleId));
      assertUnknown(await failureOf('Deleting a bundle that does not exist', unknown));
    },
  },
];

/** What is downloaded, as slowly as it goes to a disk. */
function collect(): {readonly writeTo: Writable; readonly written: () => Promise<Buffer>} {
  const pieces: Buffer[] = [];
  const writeTo = new Writable({
    write(piece: Buffer, _, done) {
      pieces.push(piece);
      setImmediate(done);
    },
  });
  return {
    writeTo,
    // Like the host, which ends what a backend has left open.
    async written() {
      if (!writeTo.writableEnded) writeTo.end();
      await finished(writeTo);
      return Buffer.concat(pieces);
    },
  };
}
