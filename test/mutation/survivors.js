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
export const survivors = {};
