import {RegExpParser, type AST} from '@eslint-community/regexpp';
import picomatch from 'picomatch';

/** Called before each piece of work. Throws when there is too much of it. */
export type Spend = (steps: number) => void;

/** What is visible at a position of a path. */
interface View {
  /** The next character; -1 at the end. */
  readonly code: number;
  /** What precedes it. */
  readonly before: 'nothing' | 'slash' | 'word' | 'other';
}

/**
 * A place in a pattern. It is reached at a position of a path if the rest of the pattern matches the rest of the path.
 */
class State {
  /** States that are reached wherever this one is, if their condition holds. */
  readonly shortcuts: State[] = [];
  /** States from which a character leads to this one. */
  readonly readers: {readonly state: State; readonly reads: (view: View) => boolean}[] = [];
  /** When it was last reached. */
  reachedAt = 0;
  readonly id: number;
  /** How many lookaheads contain it. */
  readonly depth: number;
  readonly condition: ((view: View) => boolean) | undefined;

  constructor(id: number, depth: number, condition?: (view: View) => boolean) {
    this.id = id;
    this.depth = depth;
    this.condition = condition;
  }
}

/** Everything that is reached at a position. */
interface Situation {
  /** The states that a character can lead to. */
  readonly states: readonly State[];
  readonly isMatch: boolean;
  /** Whether more characters could still make it a match. */
  readonly isAlive: boolean;
  /** The known situations one character earlier. */
  readonly earlier: Map<number, Situation>;
}

/** Maximum number of states, since repetitions are expanded. */
const maxStates = 20_000;
/** Maximum number of states and transitions in cached situations. */
const maxRemembered = 4000;
/** The cost of an uncached step, relative to a cached one. */
const newStep = 20;
const slash = 0x2f;
const dot = 0x2e;
const kinds = ['nothing', 'slash', 'word', 'other'] as const;

/**
 * A glob pattern as an automaton. picomatch translates the pattern to a regular expression, which is never executed,
 * because that can take exponential time. Instead all its paths are followed at once, from the end of a string to its
 * start, in time linear in both. Starting at the end means that what lies ahead is known when a lookahead needs it.
 *
 * One rule is added: no wildcard matches the leading dot of a name. In picomatch, `!(a)`, `[^a]` and `{a,*}` do.
 */
export class GlobAutomaton {
  /** The prefix of every match. */
  readonly #prefix: string;
  readonly #start: State;
  /** The ends of the pattern and of its lookaheads, by their depth. */
  readonly #ends: State[][] = [];
  readonly #isAnchored: boolean;
  readonly #origin: Situation = {states: [], isMatch: false, isAlive: true, earlier: new Map()};
  readonly #situations = new Map<string, Situation>();
  #states = 0;
  #remembered = 0;
  #now = 0;

  /** @throws Error for an invalid pattern, or one that cannot be matched in linear time. */
  constructor(glob: string) {
    const {source} = picomatch.makeRe(glob, {nonegate: true, windows: false});
    const {alternatives} = new RegExpParser({ecmaVersion: 2024}).parsePattern(source);
    this.#prefix = literalPrefix(alternatives).text;
    this.#start = this.#anyOf(alternatives, this.#end(0));
    const [only, second] = alternatives;
    const last = only?.elements.at(-1);
    this.#isAnchored = second === undefined && last?.type === 'Assertion' && last.kind === 'end';
  }

  /** Whether it matches all of `path`. */
  matches(path: string, spend: Spend): boolean {
    if (!path.startsWith(this.#prefix)) return false;
    spend(path.length);
    let current = this.#origin;
    for (let position = path.length; position >= 0; position -= 1) {
      const code = position < path.length ? path.charCodeAt(position) : -1;
      const before = position === 0 ? 0 : kindOf(path.charCodeAt(position - 1));
      const key = (code + 1) * kinds.length + before;
      current =
        current.earlier.get(key) ?? this.#lookEarlier(current, {code, before: kinds[before] ?? 'other'}, key, spend);
      if (!current.isAlive) return false;
    }
    return current.isMatch;
  }

  #lookEarlier(later: Situation, view: View, key: number, spend: Spend): Situation {
    const states = this.#reach(later, view, spend);
    const isMatch = this.#isReached(this.#start);
    const name = `${String(isMatch)} ${states.map(({id}) => id).join()}`;
    if (this.#remembered > maxRemembered) this.#forget();
    let found = this.#situations.get(name);
    if (!found) {
      const isAlive = isMatch || !this.#isAnchored || states.some(({depth}) => depth === 0);
      found = {states, isMatch, isAlive, earlier: new Map()};
      this.#situations.set(name, found);
      this.#remembered += states.length;
    }
    later.earlier.set(key, found);
    this.#remembered += 1;
    return found;
  }

  /** Marks the reached states, those of lookaheads first. Returns those that a character can lead to. */
  #reach({states}: Situation, view: View, spend: Spend): readonly State[] {
    this.#now += 1;
    const waiting = this.#ends.map((ends) => [...ends]);
    let steps = 0;
    for (const {readers} of states) {
      steps += readers.length;
      for (const {state, reads} of readers) if (reads(view)) waiting[state.depth]?.push(state);
    }
    const reached: State[] = [];
    for (const stack of waiting.reverse()) {
      for (let state = stack.pop(); state; state = stack.pop()) {
        steps += 1;
        if (this.#isReached(state) || state.condition?.(view) === false) continue;
        state.reachedAt = this.#now;
        stack.push(...state.shortcuts);
        if (state.readers.length > 0) reached.push(state);
      }
    }
    spend(steps * newStep);
    return reached.sort((a, b) => a.id - b.id);
  }

  #isReached(state: State): boolean {
    return state.reachedAt === this.#now;
  }

  #forget(): void {
    for (const {earlier} of this.#situations.values()) earlier.clear();
    this.#origin.earlier.clear();
    this.#situations.clear();
    this.#remembered = 0;
  }

  #state(depth: number, condition?: (view: View) => boolean): State {
    this.#states += 1;
    if (this.#states > maxStates) throw new Error('too large');
    return new State(this.#states, depth, condition);
  }

  #end(depth: number): State {
    const end = this.#state(depth);
    const ends = (this.#ends[depth] ??= []);
    ends.push(end);
    return end;
  }

  /** A state that is reached wherever one of `states` is. */
  #either(states: readonly State[], depth: number): State {
    const [only, second] = states;
    if (only && !second) return only;
    const either = this.#state(depth);
    for (const state of states) state.shortcuts.push(either);
    return either;
  }

  /** The state from which one of `alternatives` leads to `next`. */
  #anyOf(alternatives: readonly AST.Alternative[], next: State): State {
    const entries = alternatives.map(({elements}) =>
      elements.reduceRight((state, element) => this.#add(element, state), next),
    );
    return this.#either(entries, next.depth);
  }

  /** The state from which `element` leads to `next`. */
  #add(element: AST.Element, next: State): State {
    switch (element.type) {
      case 'Character':
      case 'CharacterSet':
      case 'CharacterClass':
        return this.#addReader(element, next);
      case 'Group':
      case 'CapturingGroup':
        return this.#anyOf(element.alternatives, next);
      case 'Quantifier':
        return this.#repeat(element, next);
      case 'Assertion':
        return this.#addAssertion(element, next);
      default:
        throw new Error(`"${element.raw}" is not supported`);
    }
  }

  #addReader(element: Readable, next: State): State {
    const state = this.#state(next.depth);
    const test = characterTest(element);
    // Lookaheads consume nothing.
    const isWild = next.depth === 0 && isWildcard(element);
    const reads = ({code, before}: View): boolean =>
      code !== -1 && test(code) && !(isWild && code === dot && (before === 'slash' || before === 'nothing'));
    next.readers.push({state, reads});
    return state;
  }

  #repeat({min, max, element}: AST.Quantifier, next: State): State {
    let state = next;
    if (max === Infinity) {
      const again = this.#state(next.depth);
      next.shortcuts.push(again);
      const once = this.#add(element, again);
      once.shortcuts.push(again);
      if (min === 0) return again;
      state = once;
    } else {
      for (let count = min; count < max; count += 1)
        state = this.#either([this.#add(element, state), next], next.depth);
    }
    const copies = max === Infinity ? min - 1 : min;
    for (let count = 0; count < copies; count += 1) state = this.#add(element, state);
    return state;
  }

  #addAssertion(assertion: AST.Assertion, next: State): State {
    const state = this.#state(next.depth, this.#conditionOf(assertion, next.depth));
    next.shortcuts.push(state);
    return state;
  }

  #conditionOf(assertion: AST.Assertion, depth: number): (view: View) => boolean {
    switch (assertion.kind) {
      case 'start':
        return ({before}) => before === 'nothing';
      case 'end':
        return ({code}) => code === -1;
      case 'word':
        return ({code, before}) => (isWord(code) !== (before === 'word')) !== assertion.negate;
      case 'lookahead': {
        const ahead = this.#anyOf(assertion.alternatives, this.#end(depth + 1));
        return () => this.#isReached(ahead) !== assertion.negate;
      }
      case 'lookbehind':
        throw new Error(`"${assertion.raw}" is not supported`);
    }
  }
}

type Readable = AST.Character | AST.CharacterSet | AST.CharacterClass;

function characterTest(element: Readable | AST.CharacterClassElement): (code: number) => boolean {
  switch (element.type) {
    case 'Character':
      return (code) => code === element.value;
    case 'CharacterClassRange':
      return (code) => code >= element.min.value && code <= element.max.value;
    case 'CharacterClass': {
      const tests = element.elements.map((part) => characterTest(part));
      return (code) => tests.some((test) => test(code)) !== element.negate;
    }
    case 'CharacterSet':
      if (element.kind === 'property') break;
      return setTest(element);
    default:
  }
  throw new Error(`"${element.raw}" is not supported`);
}

function setTest(set: AST.AnyCharacterSet | AST.EscapeCharacterSet): (code: number) => boolean {
  switch (set.kind) {
    case 'any':
      return (code) => !/[\n\r\u2028\u2029]/.test(String.fromCharCode(code));
    case 'digit':
      return (code) => /\d/.test(String.fromCharCode(code)) !== set.negate;
    case 'space':
      return (code) => /\s/.test(String.fromCharCode(code)) !== set.negate;
    case 'word':
      return (code) => isWord(code) !== set.negate;
  }
}

/** Whether it is defined by what it does not match: to picomatch, `*` and `?` are `[^/]`. */
function isWildcard(element: Readable): boolean {
  switch (element.type) {
    case 'Character':
      return false;
    case 'CharacterSet':
      return element.kind === 'any' || element.negate;
    case 'CharacterClass':
      return element.negate || element.elements.some((part) => part.type === 'CharacterSet' && part.negate);
  }
}

function isWord(code: number): boolean {
  // Like `\w`, which would need a string.
  const isLetter = (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;
  return isLetter || (code >= 0x30 && code <= 0x39) || code === 0x5f;
}

/** The index of a character's class. */
function kindOf(code: number): number {
  if (code === slash) return 1;
  return isWord(code) ? 2 : 3;
}

/** The characters that every match starts with, and whether they are the whole match. */
function literalPrefix(alternatives: readonly AST.Alternative[]): {readonly text: string; readonly isWhole: boolean} {
  const [only, second] = alternatives;
  let text = '';
  if (!only || second) return {text, isWhole: false};
  for (const element of only.elements) {
    if (element.type === 'Character') text += String.fromCharCode(element.value);
    else if (element.type === 'Group' || element.type === 'CapturingGroup') {
      const inner = literalPrefix(element.alternatives);
      text += inner.text;
      if (!inner.isWhole) return {text, isWhole: false};
    } else if (element.type !== 'Assertion' || element.kind !== 'start') return {text, isWhole: false};
  }
  return {text, isWhole: true};
}
