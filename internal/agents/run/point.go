package run

// at marks a point of the loop. It does nothing: tests replace this file to stop or kill the
// process at a point. The points are, in the order of the loop:
//
//	started    the run is taken on
//	said       what opens a conversation, or a sheet, is stored
//	reserved   the money of a model call is reserved, nothing is sent
//	answered   the model answered, nothing of it is stored
//	settled    the answer is stored, none of its calls has run
//	called     an op has run in a batch that is still open
//	committed  a tool call and its lines are stored
//	rehearsed  an op was rehearsed in a batch that is still open
//	awaited    a long op was awaited, its last answer is not stored
//	ending     the last batch is written but not committed
//	ended      the run has ended, its job has not
func at(_ string) {}
