// Sphinx's scores, and a how-to page before all else that matches as well.
var Scorer = {
  score: ([page, , , , score]) =>
    score + (/^(howto\/|start$)/.test(page) ? 20 : 0) - (page === "guide/glossary" ? 10 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
