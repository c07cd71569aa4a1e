package app

// Sealed are all columns that hold sealed values.
var Sealed = sealed
