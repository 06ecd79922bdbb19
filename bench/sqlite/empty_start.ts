/** A program that reads nothing: the least that a process takes. @module */
console.log("{}");
