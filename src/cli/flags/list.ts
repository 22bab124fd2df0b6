import {Flags} from '../oclif.js';

const helpGroup = 'LIST';

/** Which part of a table to show. */
export const columnsFlag = {
  columns: Flags.string({
    helpGroup,
    helpValue: 'NAMES',
    summary: 'Columns to show, in this order, separated by commas.',
  }),
};

/** Which part of a list to show. */
export const listFlags = {
  limit: Flags.integer({helpGroup, helpValue: 'N', min: 1, summary: 'How many to show at most; default 25.'}),
  offset: Flags.integer({
    helpGroup,
    helpValue: 'N',
    min: 0,
    summary: 'How many of the newest to pass over; default 0.',
  }),
  all: Flags.boolean({helpGroup, exclusive: ['limit'], summary: 'Show all, however many there are.'}),
  ...columnsFlag,
};
