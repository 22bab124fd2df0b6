import type {Check} from '../check.js';

/** Whether a backend keeps to its arguments. */
export const isolationChecks: readonly Check[] = [
  {
    name: 'two services are kept apart',
    async run(scope) {
      const first = await scope.open();
      const second = await scope.open(first.backend);
      const [one, two] = [await first.makeBundle(), await second.makeBundle()];
      const [oneId, twoId] = await Promise.all([first.upload(one), second.upload(two)]);
      await first.assertArrived(one, oneId);
      await second.assertArrived(two, twoId);
    },
  },
];
