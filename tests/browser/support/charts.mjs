// Charts of work trees, as the server draws them.

export const task = (name) => ({ task: name });

/**
 * The chart of a tree of `{ task }`, `{ gate }`, `{ seq }`, `{ par }`, `{ alt: [condition, true, false] }` and
 * `{ loop: [pre, body, post] }`.
 */
export function chartOf(work) {
  const nodes = [];
  let works = 0;
  const add = (hint, label) => {
    const node = { id: nodes.length, hint, label, arrows: [] };
    nodes.push(node);
    return node;
  };
  const link = (from, to, label, loopBack = false) => from.arrows.push({ to: to.id, loopBack, ...(label ? { label } : {}) });
  const leaf = (kind, label) => {
    const node = add([kind, works], label);
    works += 1;
    return { first: node, last: node };
  };

  function build(one, isCondition = false) {
    if (one.task) return leaf(isCondition ? "CondNode" : "TaskNode", one.task);
    if (one.gate) return leaf("GateNode", one.gate);
    if (one.seq) return sequence(one.seq);
    if (one.par) return parallel(one.par);
    return one.alt ? choice(one.alt) : loop(one.loop);
  }

  function sequence(parts) {
    const built = parts.map((part) => build(part));
    built.slice(1).forEach(({ first }, index) => link(built[index].last, first));
    return { first: built[0].first, last: built.at(-1).last };
  }

  function parallel(parts) {
    const begin = add("ParBegin");
    const built = parts.map((part) => build(part));
    const end = add("ParEnd");
    for (const { first, last } of built) {
      link(begin, first);
      link(last, end);
    }
    return { first: begin, last: end };
  }

  function choice([condition, ...branches]) {
    const decides = build(condition, true);
    const built = branches.map((branch) => branch && build(branch));
    const end = add("AltEnd");
    built.forEach((branch, index) => {
      link(decides.last, branch ? branch.first : end, index === 0 ? "true" : "false");
      if (branch) link(branch.last, end);
    });
    return { first: decides.first, last: end };
  }

  function loop([pre, body, post]) {
    const before = pre && build(pre, true);
    const pass = build(body);
    const after = post && build(post, true);
    const end = add("LoopEnd");
    const first = before ? before.first : pass.first;
    if (before) {
      link(before.last, pass.first, "true");
      link(before.last, end, "false");
    }
    if (after) {
      link(pass.last, after.first);
      link(after.last, first, "false", true);
      link(after.last, end, "true");
    } else if (before) link(pass.last, first, undefined, true);
    else link(pass.last, end);
    return { first, last: end };
  }

  build(work);
  return nodes;
}

/** A tree with every kind of work and about so many tasks. */
export function largeWork(tasks) {
  let made = 0;
  const next = () => {
    made += 1;
    return task(`step ${made}`);
  };
  const parts = [];
  while (made < tasks) parts.push({ par: [{ seq: [next(), next()] }, { loop: [null, { seq: [next(), next()] }, next()] }, { loop: [next(), next(), null] }, { alt: [next(), next(), null] }] }, next());
  return { seq: parts };
}
