import assert from 'node:assert/strict';
import type {BundleFormat} from '../../backends/contract.js';
import {largeBytes, stallHalfWay} from '../make-bundles.js';
import {anyError, expectAbort, expectAnswer, expectError, notTried, outcomeOf, withCode} from '../expectations.js';
import {idsOf, type Case, type ItemOf} from '../subject.js';

export function uploadCases(format: BundleFormat): readonly Case[] {
  const what = `upload (${format})`;
  return [
    {
      name: `${what}: every byte arrives, and progress rises to 100 %`,
      proves: 'Both for a small bundle and for one of 17 MiB. Progress never decreases or exceeds the total.',
      async run(subject) {
        for (const contentBytes of [undefined, largeBytes]) {
          const bundle = await subject.makeBundle({format, contentBytes});
          let reports: {readonly transferred: number; readonly total?: number | undefined}[] = [];
          const bundleId = await subject.upload(bundle, {
            onProgress: (report) => void reports.push(report),
            onRetry: () => void (reports = []),
          });
          await subject.assertArrived(bundle, bundleId);
          let before = 0;
          for (const {transferred, total = transferred} of reports) {
            const isFine = transferred >= before && transferred <= total;
            assert.ok(isFine, `Expected ${before} to ${total} bytes of progress. The backend reported ${transferred}.`);
            before = transferred;
          }
          const last = reports.at(-1);
          assert.ok(last, 'No progress was reported. Use context.bodies, or call context.onProgress().');
          expectAnswer('the last report of progress', last.transferred, last.total ?? last.transferred);
        }
      },
    },
    {
      name: `${what}: an abort in the middle ends it and leaves nothing behind`,
      proves:
        'Aborted in the middle of 17 MiB, or without progress within the time limits, it ends and cleans up. ' +
        'Meanwhile, the bundle is not listed as `ready`. Another one of 17 MiB stays whole.',
      async run(subject) {
        // Of this size, services have stored parts by then.
        const bundle = await subject.makeBundle({format, contentBytes: largeBytes});
        const other = await subject.makeBundle({format, contentBytes: largeBytes});
        const otherId = await subject.uploaded(other);
        const kept = (await subject.service.countUploads?.()) ?? 0;
        let listing: Promise<readonly ItemOf<'listBundles'>[]> | undefined;
        await expectAbort('the upload, whose bundle stalls halfway,', (signal, abort) => {
          const onStall = () => void (listing ??= subject.again().bundles().finally(abort));
          // A backend that reads the archive by its path does not stall.
          const onProgress = ({transferred}: {readonly transferred: number}) => {
            if (transferred > bundle.size / 2) abort();
          };
          return subject.call('upload', stallHalfWay(bundle, onStall), {signal, onProgress});
        });
        const ready = idsOf((await listing)?.filter(({status}) => status === 'ready') ?? []);
        const others = ready.filter((id) => id !== otherId);
        expectAnswer('the other bundles that are listed as ready during an upload', others, []);
        await subject.assertKept(kept, 'an aborted upload that was to be cleaned up in context.onAbort()');
        await subject.assertArrived(other, otherId, 'an abort of another upload');
        const stalling = stallHalfWay(await subject.makeBundle({format}), () => undefined);
        const stalled = subject.call('upload', stalling, {timeouts: {idleMs: 500, requestMs: 500}});
        const {error} = await outcomeOf(stalled);
        const noProgress = withCode('ERR_TIMEOUT', 'ERR_OUTCOME_UNKNOWN', 'ERR_NETWORK');
        if (error) await expectError('an upload that makes no progress', stalled, noProgress);
        await subject.assertKept(kept + (error ? 0 : 1), 'an upload that made no progress');
      },
    },
    {
      name: `${what}: two of one archive at a time are both complete`,
      proves: 'Both succeed, as one bundle or two: every byte is there, and each is listed once.',
      async run(subject) {
        const bundle = await subject.makeBundle({format});
        // The host has the state of an upload for one of them only.
        const work = [subject.upload(bundle), subject.again().upload(bundle, {state: undefined})];
        const ids = [...new Set(await Promise.all(work))];
        const after = 'two uploads of one archive at a time';
        for (const id of ids) await subject.assertArrived(bundle, id, after);
        await subject.assertKept(ids.length, after);
        await subject.nextInstant();
        const listed = idsOf(await subject.bundles());
        if (subject.backend.listBundles) expectAnswer(`the list after ${after}`, listed.toSorted(), ids.toSorted());
      },
    },
    {
      name: `${what}: bundles that are uploaded at the same time are different ones`,
      proves:
        'Each has its own bytes and its own ID, which must not depend on the time alone, even if it is uploaded while ' +
        'another one is on its way.',
      async run(subject) {
        const sizes = Array.from({length: 8}, (_, index) => 100 + index);
        const bundles = await Promise.all(sizes.map((contentBytes) => subject.makeBundle({format, contentBytes})));
        const ids = await Promise.all(bundles.map((bundle) => subject.again().upload(bundle, {state: undefined})));
        expectAnswer('the number of different IDs', new Set(ids).size, ids.length);
        for (const [index, id] of ids.entries()) {
          const bundle = bundles[index];
          if (bundle) await subject.assertArrived(bundle, id, 'uploads at the same time');
        }
        const large = await subject.makeBundle({format, contentBytes: largeBytes});
        let meanwhile: Promise<unknown> | undefined;
        const stalling = stallHalfWay(large, (goOn) => {
          meanwhile ??= outcomeOf(subject.again().upload(bundles[0], {state: undefined}));
          void meanwhile.then(goOn);
        });
        const id = await subject.again().upload(stalling, {state: undefined});
        await subject.assertArrived(large, id, 'another upload that began meanwhile');
      },
    },
    {
      name: `${what}: deploys nothing`,
      needs: ['listDeployments'],
      proves: 'An upload deploys nothing, not even with a target.',
      async run(subject) {
        await subject.upload(await subject.makeBundle({format}), {targetSlug: subject.targetSlug});
        await subject.nextInstant();
        const {result: history = []} = await outcomeOf(subject.history());
        expectAnswer('the history of the target after an upload', history, []);
      },
    },
  ];
}

/** The case of backends that resume uploads. `contentBytes`: the size of a bundle that they send in several parts. */
export function resumeCase(contentBytes: number): Case {
  return {
    name: 'resume: only what the service lacks is sent again',
    proves:
      'After an interrupted upload, the next one sends only the rest, which may be nothing, unless the service no ' +
      'longer has the beginning.',
    async run(subject, open) {
      const {relay, saved} = subject.parts;
      // The first one may take more requests, to make folders.
      await subject.upload(await subject.makeBundle({contentBytes}));
      relay.arm();
      await subject.upload(await subject.makeBundle({contentBytes}));
      const total = relay.requests;
      const withHalf = 1 + relay.bytesBefore.findIndex((bytes) => bytes > contentBytes / 2);
      if (total < 3) notTried('Less than three requests of an upload pass the suite.');
      const interrupted = async (at: number, most: number) => {
        const bundle = await subject.makeBundle({contentBytes});
        relay.arm({kind: 'cut', at, lasts: true});
        const work = subject.upload(bundle);
        // Of another protocol than HTTP, the last request may just disconnect.
        if (at < total || relay.isHttp) await expectError('an interrupted upload', work, anyError);
        const {error} = await outcomeOf(work);
        const {state} = saved;
        relay.arm();
        // Once the service has every byte, there may be nothing left to resume.
        if (!error || (at === total && state === undefined)) return {bundle, state};
        assert.ok(state !== undefined, 'An upload was interrupted, and nothing is saved with "context.state".');
        const next = subject.again();
        await next.assertArrived(bundle, await next.upload(bundle));
        const whole = `Expected the second upload to send less than the whole, ${bundle.size} bytes.`;
        assert.ok(relay.bytes < bundle.size, `${whole} It sent ${relay.bytes}.`);
        await next.assertKept(most, 'a resumed upload');
        return {bundle, state};
      };
      // When it breaks off at its last request, the service has every byte.
      await interrupted(total, 3);
      const {bundle, state} = await interrupted(Math.max(withHalf, Math.ceil((total + 1) / 2)), 4);

      const other = await open();
      other.parts.saved.state = state;
      await other.assertArrived(bundle, await other.upload(bundle), 'an upload that another service has begun');
      await other.assertKept(1, 'an upload that started over');
    },
  };
}
