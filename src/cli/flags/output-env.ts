import {Flags} from '../oclif.js';

/** Where the outputs for other CI systems go. */
export const outputEnvFlag = {
  'output-env': Flags.string({
    helpValue: 'FILE',
    summary: 'Write MYCLI_BUNDLE_ID and what else came of it to this file, as dotenv.',
    helpGroup: 'CI',
  }),
};
