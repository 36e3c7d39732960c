"use strict";
const form = document.querySelector(".filter");
const nodes = [...document.querySelectorAll(".nodes > details")];
const texts = new Map();

function text(node) {
  if (!texts.has(node)) texts.set(node, node.textContent.toLowerCase());
  return texts.get(node);
}

function filter() {
  const state = form.elements.state.value;
  const rail = form.elements.rail.value;
  const words = form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const node of nodes) {
    const own = rail
      ? node.dataset.rails.split(" ").filter((part) => part.startsWith(rail + "=")).map((part) => part.split("=")[1])
      : [node.dataset.state];
    const fits = own.length > 0 && (!state || own.includes(state)) && words.every((word) => text(node).includes(word));
    node.hidden = !fits;
    shown += fits ? 1 : 0;
  }
  form.querySelector("output").textContent = `${shown} of ${nodes.length} nodes`;
}

function reveal() {
  const target = location.hash.length > 1 ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null;
  for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
  if (target) target.scrollIntoView({ block: "start" });
}

form.hidden = nodes.length < 3;
form.addEventListener("input", filter);
form.addEventListener("submit", (event) => event.preventDefault());
addEventListener("hashchange", reveal);
addEventListener("beforeprint", () => nodes.forEach((node) => node.dataset.state !== "pass" && (node.open = true)));
filter();
reveal();
