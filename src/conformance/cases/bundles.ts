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
import {hugeBytes, largeBytes, stallHalfWay, type BundleWish} from '../bundles.js';
import {memoryInUse} from '../observations.js';
import {assertAbortEnds, assertUnknown, failureOf, notTried, type Case} from '../scope.js';
import {assertSameBytes, readBytes, type Subject} from '../subject.js';
import {lookalikes, unknownIdLike} from './ids.js';

/** Cases for uploads in a format; `streamed`: of a bundle that is packed while it is sent. */
export function uploadCases(format: BundleFormat, {streamed = false} = {}): readonly Case[] {
  const what = streamed ? `uploadStream (${format})` : `upload (${format})`;
  return [
    {
      name: `${what}: every byte arrives`,
      proves: 'Every byte of a small bundle and of one of 9 MiB arrives, which services may take in parts.',
      async run(scope) {
        const subject = await scope.open();
        for (const contentBytes of [undefined, largeBytes]) {
          const bundle = await subject.makeBundle({format, contentBytes});
          await subject.assertArrived(bundle, await subject.upload(bundle, {streamed}));
        }
      },
    },
    {
      name: `${what}: progress rises to 100 %`,
      proves: 'Progress never decreases, never exceeds the total, and ends with it.',
      async run(scope) {
        const subject = await scope.open();
        await subject.upload(await subject.makeBundle({format}), {streamed});
        assertClimbs(subject.progress);
      },
    },
    {
      name: `${what}: an abort in the middle ends it and leaves nothing behind`,
      proves:
        'An upload that is aborted once half of `bundle.createReadStream()` has been read, or at the first progress, ' +
        'ends within a second, and nothing is left once `onAbort` has cleaned up.',
      async run(scope) {
        const subject = await scope.open();
        const bundle = await subject.makeBundle({format});
        await assertAbortEnds('The upload', subject, async (signal, abort) => {
          // A backend that reads the archive by its path does not stall, but has started once there is progress.
          subject.onProgress = ({transferred}) => {
            if (transferred > 0) abort();
          };
          await subject.upload(await stallHalfWay(bundle, abort), {signal, streamed, stateless: true});
        });
        await subject.assertKept(0, 'an aborted upload that was to be cleaned up in context.onAbort()');
      },
    },
    {
      name: `${what}: the bundle is not held in memory`,
      proves:
        'Reading a bundle of 300 MB waits for the service, or what was read is not kept. The bundle is a file of zeros ' +
        'that takes no space, and its upload is aborted when the service takes no more, or 32 MiB are sent.',
      async run(scope) {
        await assertNotHeld(await scope.open(), format, streamed);
      },
    },
  ];
}

/** The largest limits that are tried. */
const triedLimits = {maxBundleBytes: 32 * 1024 * 1024, maxFiles: 1000};

/** Cases for the limits that a backend has. */
export function limitCases({maxBundleBytes, maxFiles}: BackendLimits): readonly Case[] {
  const within = (limit: keyof BackendLimits, value: number | undefined, wish: BundleWish): readonly Case[] => {
    if (value === undefined) return [];
    const most = triedLimits[limit];
    const one: Case = {
      name: `limits: a bundle with the ${limit} of the backend is accepted`,
      proves: `A bundle that just keeps within \`${limit}\` is accepted, if that is at most ${most.toLocaleString('en')}.`,
      async run(scope) {
        if (value > most) notTried(`${limit} is ${String(value)}, and at most ${String(most)} is tried.`);
        const subject = await scope.open();
        const bundle = await subject.makeBundle(wish);
        const bundleId = await subject.upload(bundle).catch((error: unknown) => {
          const {size, files} = bundle;
          const what = `a bundle of ${String(size)} bytes with ${String(files.length)} files`;
          assert.fail(`${limit} is ${String(value)}, but ${what} was refused: ${String(error)}`);
        });
        await subject.assertArrived(bundle, bundleId);
      },
    };
    return [one];
  };
  return [
    ...within('maxBundleBytes', maxBundleBytes, {contentBytes: maxBundleBytes}),
    ...within('maxFiles', maxFiles, {files: maxFiles}),
  ];
}

/** More than what is read ahead, and than the parts that are sent at the same time. */
const aheadBytes = hugeBytes / 2;
/** How much of a huge bundle is sent before it is clear that sending keeps up with reading. */
const enoughBytes = 32 * 1024 * 1024;
/** A stalled connection stays that way. In slices, so that a pause of the whole machine only counts as one. */
const stall = {slices: 10, sliceMs: 50};

/**
 * Asserts that reading a bundle waits for the service: its requests are held, so that reading must stop soon. If none
 * passes the suite, reading must not run ahead of the progress. If it does all the same, what was read may not be kept:
 * the backend may have read it for a digest.
 */
async function assertNotHeld(subject: Subject, format: BundleFormat, streamed: boolean): Promise<void> {
  const controller = new AbortController();
  const before = memoryInUse();
  let [read, discarded, sent, held, isStalling] = [0, 0, 0, 0, false];
  const bundle = await subject.parts.makeHugeBundle(format, (bytes) => {
    read += bytes;
    if (held > 0 || read - discarded - sent <= aheadBytes) return;
    const grown = memoryInUse() - before;
    if (grown < aheadBytes / 2) {
      discarded = read;
    } else {
      held = grown;
      controller.abort();
    }
  });
  const untilStalled = async () => {
    for (let slice = 0, last = read; slice < stall.slices && !controller.signal.aborted; slice += 1) {
      await delay(stall.sliceMs);
      if (read !== last) slice = 0;
      last = read;
    }
    controller.abort();
  };
  subject.onProgress = ({transferred}) => {
    sent = transferred;
    if (sent > enoughBytes) controller.abort();
  };
  const onHeld = () => {
    if (!isStalling) void untilStalled();
    isStalling = true;
  };
  subject.relay.arm({kind: 'hold', at: 1, count: Infinity, onHeld});
  // A service may refuse the bundle, which contains nothing but zeros.
  await subject.upload(bundle, {signal: controller.signal, streamed, stateless: true}).catch(() => undefined);
  controller.abort();
  assert.equal(
    held,
    0,
    `The backend read ${String(read)} bytes of a bundle when the service had taken ${String(sent)}, and memory grew by ` +
      `${String(held)} bytes. Send the bundle while you read it, with context.bodies or a stream.`,
  );
}

function assertClimbs(reports: Subject['progress']): void {
  let before = 0;
  for (const {transferred, total = transferred} of reports) {
    const report = `${String(transferred)} of ${String(total)} bytes after ${String(before)}`;
    assert.ok(
      transferred >= before && transferred <= total,
      `Progress went backwards, or beyond the total: ${report}.`,
    );
    before = transferred;
  }
  const last = reports.at(-1);
  assert.ok(last, 'No progress was reported. Use context.bodies, or call context.onProgress().');
  assert.equal(last.transferred, last.total, 'The last progress report is not 100 %.');
}

/** Cases for the capability `download`. */
export const downloadCases: readonly Case[] = [
  {
    name: 'download: returns the uploaded bytes',
    needs: ['download'],
    proves: 'The bytes are those of the upload, and so are the digest and the total if they are reported.',
    async run(scope) {
      const subject = await scope.open();
      const bundle = await subject.makeBundle();
      const {content, start} = await fetchArchive(subject, await subject.upload(bundle));
      const {offset = 0, total = bundle.size, sha256 = bundle.sha256} = start ?? {};
      assert.equal(sha256, bundle.sha256, "The download reports a sha256 that is not the archive's.");
      assert.equal(offset, 0, `The download started at ${String(offset)}, although there was nothing to resume.`);
      assert.equal(total, bundle.size, `The download reports ${String(total)} of ${String(bundle.size)} bytes.`);
      assertSameBytes(bundle, await readBytes(content), 'The download has');
    },
  },
  {
    name: 'download: an abort in the middle ends it within a second',
    needs: ['download'],
    proves: 'A download that is aborted while it writes ends within a second.',
    async run(scope) {
      const subject = await scope.open();
      const bundleId = await subject.upload();
      await assertAbortEnds('The download', subject, async (signal, abort) => {
        // Accepts one chunk and never finishes it.
        await subject.call('download', {bundleId, writeTo: new Writable({write: abort})}, {signal});
      });
    },
  },
  {
    name: 'download: it resumes where it stopped, or starts over',
    needs: ['download'],
    proves: 'With a validator, a download continues the same archive where it says, or starts over and says so.',
    async run(scope) {
      const subject = await scope.open();
      const bundle = await subject.makeBundle();
      const bundleId = await subject.upload(bundle);
      const {start} = await fetchArchive(subject, bundleId);
      // Without a validator, the host never resumes.
      if (start?.validator === undefined) return;
      const resumeAt = Math.floor(bundle.size / 2);
      const {validator} = start;
      const rest = await fetchArchive(subject, bundleId, {offset: resumeAt, validator});
      const {offset = 0, total = bundle.size} = rest.start ?? {};
      const told = `at ${String(offset)}, with ${String(rest.content.length)} bytes of a total of ${String(total)}`;
      assert.ok(
        [0, resumeAt].includes(offset) && rest.content.length === bundle.size - offset && total === bundle.size,
        `A download was to be resumed at ${String(resumeAt)} of ${String(bundle.size)} bytes, and starts ${told}.`,
      );
    },
  },
  {
    name: 'download: a different archive is not resumed',
    needs: ['download'],
    proves: 'Two archives have different validators, and the validator of another one makes a download start over.',
    async run(scope) {
      const subject = await scope.open();
      const [one, other] = [await subject.upload(), await subject.upload()];
      const [{start: first}, {start: second}] = [await fetchArchive(subject, one), await fetchArchive(subject, other)];
      if (first?.validator === undefined || second?.validator === undefined) return;
      const advice = 'so one would continue the other';
      assert.notEqual(first.validator, second.validator, `Two archives have the same validator, ${advice}.`);
      const {start} = await fetchArchive(subject, one, {offset: 1000, validator: second.validator});
      assert.equal(
        start?.offset ?? 0,
        0,
        'The download was resumed although the validator is that of another archive. Send it as If-Range, or compare it.',
      );
    },
  },
];

interface FetchedArchive {
  readonly content: Buffer;
  /** What the backend said when it started. */
  readonly start?: DownloadStart | undefined;
}

/** Downloads an archive, as slowly as it goes to a disk. */
async function fetchArchive(subject: Subject, bundleId: BundleId, resume?: DownloadResume): Promise<FetchedArchive> {
  const pieces: Buffer[] = [];
  const starts: DownloadStart[] = [];
  const writeTo = new Writable({
    write(piece: Buffer, _, done) {
      pieces.push(piece);
      setImmediate(done);
    },
  });
  await subject.call('download', {bundleId, writeTo, resume, onStart: (start) => void starts.push(start)});
  // Like the host, which ends what a backend has left open.
  if (!writeTo.writableEnded) writeTo.end();
  await finished(writeTo);
  return {content: Buffer.concat(pieces), start: starts.at(-1)};
}

/** Cases for the capability `delete`. */
export const deleteCases: readonly Case[] = [
  {
    name: 'delete: removes the bundle and no other',
    needs: ['deleteBundle'],
    proves: 'The bundle is gone, and bundles with the same content or the same message stay.',
    async run(scope) {
      const subject = await scope.open();
      const unwanted = await subject.makeBundle();
      const namesake = await subject.makeBundle({message: unwanted.message});
      const others: [Bundle, BundleId][] = [];
      for (const bundle of [unwanted, namesake]) others.push([bundle, await subject.upload(bundle)]);
      const unwantedId = await subject.upload(unwanted);
      await subject.call('deleteBundle', {bundleId: unwantedId});
      await subject.nextInstant();
      if (subject.backend.listBundles) {
        const isListed = (await subject.list('listBundles', {})).some(({bundleId}) => bundleId === unwantedId);
        assert.ok(!isListed, 'The deleted bundle is still listed.');
      }
      assert.ok(!(await subject.hasArrived(unwanted, unwantedId)), 'The service still has the deleted bundle.');
      // A service may store equal archives once.
      for (const [bundle, id] of others) if (id !== unwantedId) await subject.assertArrived(bundle, id);
    },
  },
];

/** Cases for members that take the ID of a bundle. */
export const idCases: readonly Case[] = (
  [
    ['deploy', 'deploy', 'Deploying'],
    ['download', 'download', 'Downloading'],
    ['delete', 'deleteBundle', 'Deleting'],
  ] as const
).flatMap(([name, member, doing]): readonly Case[] => {
  const use = (subject: Subject, bundleId: BundleId) => {
    const request = {bundleId, targetSlug: subject.targetSlug, writeTo: new Writable({write: (_, __, done) => done()})};
    return subject.call(member, request);
  };
  return [
    {
      name: `${name}: an unknown bundle is refused with a code`,
      needs: [member],
      proves: 'An ID that no bundle has is refused, with `ERR_BUNDLE_UNKNOWN` or the status 404.',
      async run(scope) {
        const subject = await scope.open();
        const unknown = unknownIdLike(await subject.upload());
        assertUnknown(await failureOf(`${doing} a bundle that does not exist`, use(subject, unknown)));
      },
    },
    {
      name: `${name}: what only looks like the ID of a bundle is refused`,
      needs: [member],
      proves: 'The ID of a bundle with `?`, `#` or `..` around it is none: encode it in a URL or a path.',
      async run(scope) {
        const subject = await scope.open();
        if (subject.backend.bundleIds === 'number') notTried('The IDs of the backend are numbers.');
        const bundle = await subject.makeBundle();
        const bundleId = await subject.upload(bundle);
        for (const like of lookalikes(String(bundleId))) {
          await failureOf(`${doing} the bundle ${JSON.stringify(like)}, which does not exist,`, use(subject, like));
        }
        await subject.assertArrived(bundle, bundleId);
      },
    },
    {
      name: `${name}: a bundle of another project is refused`,
      needs: [member],
      proves: 'The bundles of another project are not found, and stay as they are.',
      async run(scope) {
        const subject = await scope.open();
        const other = scope.reopenElsewhere(subject);
        // A service may number the bundles of each project: this one has more.
        await subject.upload();
        const bundle = await subject.makeBundle();
        const bundleId = await subject.upload(bundle);
        await other.upload();
        await failureOf(`${doing} a bundle of another project`, use(other, bundleId));
        await subject.assertArrived(bundle, bundleId);
      },
    },
  ];
});
