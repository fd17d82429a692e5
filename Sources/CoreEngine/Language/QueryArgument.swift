/// An argument of a query text. Its bytes must stay valid until the query is bound.
package enum QueryArgument {
    case value(Mixed)
    case list([Mixed])
}
