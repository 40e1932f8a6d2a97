// Matrices that the invocations of a subgroup hold together: products of SIZE_ROWS x SIZE_COLUMNS elements over
// SIZE_DEPTH steps of the depth, a shape that the device multiplies. Their extension is not known to the tool that reads
// a module's interface: with DIMPLE_REFLECT the same interface goes without.
#extension GL_KHR_shader_subgroup_basic : require
#if DIMPLE_REFLECT
#define MATRIX_A float
#define MATRIX_B float
#define MATRIX_SUM float
#define LOAD_ROWS(MATRIX, FROM, AT, PITCH) MATRIX = float(FROM[AT].x)
#define LOAD_COLUMNS(MATRIX, FROM, AT, PITCH) MATRIX = float(FROM[AT].x)
#define STORE_ROWS(MATRIX, TO, AT, PITCH) TO[AT].x = uint(MATRIX)
#define STORE_COLUMNS(MATRIX, TO, AT, PITCH) TO[AT].x = uint(MATRIX)
#define MULTIPLY_ADD(A, B, SUMS) ((A) * (B) + (SUMS))
#define MATRIX_HALVES float
#define MATRIX_LENGTH(MATRIX) 1u
#define MATRIX_AT(MATRIX, I) MATRIX
#define TO_FACTOR(X) (X)
#define SUBGROUP_BARRIER() subgroupBarrier()
#else
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_cooperative_matrix : require
#if INTEGER_MATRICES
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#define MATRIX_A coopmat<int8_t, gl_ScopeSubgroup, SIZE_ROWS, SIZE_DEPTH, gl_MatrixUseA>
#define MATRIX_B coopmat<int8_t, gl_ScopeSubgroup, SIZE_DEPTH, SIZE_COLUMNS, gl_MatrixUseB>
#define MATRIX_SUM coopmat<int, gl_ScopeSubgroup, SIZE_ROWS, SIZE_COLUMNS, gl_MatrixUseAccumulator>
#else
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#define MATRIX_A coopmat<float16_t, gl_ScopeSubgroup, SIZE_ROWS, SIZE_DEPTH, gl_MatrixUseA>
#define MATRIX_B coopmat<float16_t, gl_ScopeSubgroup, SIZE_DEPTH, SIZE_COLUMNS, gl_MatrixUseB>
#define MATRIX_SUM coopmat<float, gl_ScopeSubgroup, SIZE_ROWS, SIZE_COLUMNS, gl_MatrixUseAccumulator>
#endif
#define LOAD_ROWS(MATRIX, FROM, AT, PITCH) coopMatLoad(MATRIX, FROM, AT, PITCH, gl_CooperativeMatrixLayoutRowMajor)
#define LOAD_COLUMNS(MATRIX, FROM, AT, PITCH) \
  coopMatLoad(MATRIX, FROM, AT, PITCH, gl_CooperativeMatrixLayoutColumnMajor)
#define STORE_ROWS(MATRIX, TO, AT, PITCH) coopMatStore(MATRIX, TO, AT, PITCH, gl_CooperativeMatrixLayoutRowMajor)
#define STORE_COLUMNS(MATRIX, TO, AT, PITCH) coopMatStore(MATRIX, TO, AT, PITCH, gl_CooperativeMatrixLayoutColumnMajor)
#define MULTIPLY_ADD(A, B, SUMS) coopMatMulAdd(A, B, SUMS)
// Sums rounded to FLOAT16, and the elements of a matrix that an invocation holds.
#define MATRIX_HALVES coopmat<float16_t, gl_ScopeSubgroup, SIZE_ROWS, SIZE_COLUMNS, gl_MatrixUseAccumulator>
#define MATRIX_LENGTH(MATRIX) uint(MATRIX.length())
#define MATRIX_AT(MATRIX, I) MATRIX[I]
#define TO_FACTOR(X) float16_t(X)
#define SUBGROUP_BARRIER()                                                            \
  controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, gl_StorageSemanticsShared, \
                 gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible)
#endif
