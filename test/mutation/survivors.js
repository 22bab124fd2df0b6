/** Kinds of reasons why a mutant survives, and what each means. */
export const kinds = {
  equivalent: 'nothing changes that anybody could see',
  words: 'only words of a message change, not its error code, what it names or the way out',
  resources: 'only time or memory changes',
  unreachable: 'a case that the types exclude or that cannot be made in a test',
};

/**
 * Why the mutants that survive do, by source file: how many mutants a reason covers, of which kind it is, and the reason.
 * @type {Readonly<Record<string, readonly {count: number, kind: keyof typeof kinds, why: string}[]>>}
 */
export const survivors = {
  'src/backends/answer-schemas.ts': [
    {count: 1, kind: 'equivalent', why: 'Nothing, without the `return false`, is as false to the check.'},
  ],
  'src/backends/answers.ts': [
    {count: 1, kind: 'equivalent', why: 'A text in the list of records has none of the members that are read.'},
    {count: 1, kind: 'equivalent', why: '`isSafeInteger` refuses what is no number; asking before is for the types.'},
  ],
  'src/backends/api/backend.ts': [
    {count: 1, kind: 'equivalent', why: '`undefined`, as the pattern reads it, is an identifier too.'},
  ],
  'src/backends/configuration.ts': [
    {count: 1, kind: 'equivalent', why: 'A name that no option has, in the default list of secrets, finds no value.'},
  ],
  'src/backends/legacy/deployments.ts': [
    {
      count: 1,
      kind: 'equivalent',
      why: 'What is thrown beside errors of the catalogue has no status; asking is for the types.',
    },
    {count: 1, kind: 'equivalent', why: 'Any other text in the place of a missing time is no time either.'},
  ],
  'src/backends/legacy/download.ts': [
    {
      count: 1,
      kind: 'equivalent',
      why: 'What is thrown beside errors of the catalogue has no code that is retried; asking is for the types.',
    },
    {count: 2, kind: 'unreachable', why: 'A name server that is out of order for a while (`EAI_AGAIN`).'},
    {
      count: 3,
      kind: 'unreachable',
      why: 'An answer that fails in the moment between its beginning and the first look at it: no server can be so exact.',
    },
    {
      count: 2,
      kind: 'equivalent',
      why: 'What stands in for a missing range, or for its match, matches and holds nothing either.',
    },
  ],
  'src/backends/location.ts': [
    {count: 1, kind: 'equivalent', why: 'A name that no option has, in the default list of secrets, leaves out none.'},
    {count: 1, kind: 'equivalent', why: 'Two options of one name, whose order would be another, do not exist.'},
  ],
  'src/backends/plugins.ts': [
    {count: 1, kind: 'equivalent', why: 'Two plugins of one name, whose order would be another, do not exist.'},
  ],
  'src/backends/select.ts': [
    {count: 1, kind: 'equivalent', why: 'The set of statuses does not hold `undefined`; asking is for the types.'},
  ],
  'src/http/rate-limit/hooks.ts': [
    {count: 1, kind: 'unreachable', why: 'The types allow got to have no list of statuses; it always has one.'},
    {
      count: 1,
      kind: 'equivalent',
      why: 'When a wait is aborted, got does not send the request again, though it is asked to.',
    },
  ],
  'src/http/rate-limit/retry-after.ts': [
    {count: 1, kind: 'equivalent', why: 'Any other text in the place of a missing header is no date either.'},
    {count: 1, kind: 'equivalent', why: '`Date.parse` takes a second `GMT` for none.'},
  ],
  'src/http/rate-limit/wait-to-retry.ts': [
    {count: 1, kind: 'equivalent', why: 'The list of statuses does not hold `undefined`; asking is for the types.'},
  ],
};
