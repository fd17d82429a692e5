package crealm

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// Decimal128 is an IEEE 754 decimal128 in binary integer encoding: up to 34 digits with an exponent of ten.
type Decimal128 struct {
	Low, High uint64
}

const (
	decimalBias     = 6176
	decimalSign     = 1 << 63
	decimalInfinity = 0x7800 << 48
	decimalNaN      = 0x7c00 << 48
)

var decimalLimit = new(big.Int).Exp(big.NewInt(10), big.NewInt(34), nil)

// DecimalOf is an integer as a decimal.
func DecimalOf(number int64) Decimal128 {
	coefficient := big.NewInt(number)
	return decimalFrom(number < 0, coefficient.Abs(coefficient), 0)
}

func decimalFrom(isNegative bool, coefficient *big.Int, exponent int) Decimal128 {
	low := new(big.Int).And(coefficient, new(big.Int).SetUint64(^uint64(0))).Uint64()
	high := new(big.Int).Rsh(coefficient, 64).Uint64() | uint64(exponent+decimalBias)<<49
	if isNegative {
		high |= decimalSign
	}
	return Decimal128{low, high}
}

func (d Decimal128) isNegative() bool {
	return d.High&decimalSign != 0
}

// IsNaN says whether this is no number.
func (d Decimal128) IsNaN() bool {
	return d.High&decimalNaN == decimalNaN
}

// IsInfinite says whether this is infinity, of either sign.
func (d Decimal128) IsInfinite() bool {
	return d.High&decimalNaN == decimalInfinity
}

func (d Decimal128) parts() (*big.Int, int) {
	if d.High&(0x6000<<48) == 0x6000<<48 {
		return new(big.Int), int(d.High>>47&0x3fff) - decimalBias
	}
	coefficient := new(big.Int).SetUint64(d.High & 0x1_ffff_ffff_ffff)
	coefficient.Lsh(coefficient, 64).Or(coefficient, new(big.Int).SetUint64(d.Low))
	if coefficient.Cmp(decimalLimit) >= 0 {
		coefficient.SetInt64(0)
	}
	return coefficient, int(d.High>>49&0x3fff) - decimalBias
}

// Equal compares by value: 1.0 equals 1.00; NaN equals nothing.
func (d Decimal128) Equal(other Decimal128) bool {
	if d.IsNaN() || other.IsNaN() {
		return false
	}
	if d.IsInfinite() || other.IsInfinite() {
		return d.IsInfinite() && other.IsInfinite() && d.isNegative() == other.isNegative()
	}
	one, first := d.parts()
	two, second := other.parts()
	if one.Sign() == 0 || two.Sign() == 0 {
		return one.Sign() == two.Sign()
	}
	if d.isNegative() != other.isNegative() {
		return false
	}
	// Numbers whose exponents differ by more than 34 differ.
	if first-second > 34 || second-first > 34 {
		return false
	}
	ten := big.NewInt(10)
	for ; first > second; first-- {
		one.Mul(one, ten)
	}
	for ; second > first; second-- {
		two.Mul(two, ten)
	}
	return one.Cmp(two) == 0
}

// String is the text form of decimal arithmetic: 1.50, -1E+10, NaN, Infinity.
func (d Decimal128) String() string {
	sign := ""
	if d.isNegative() {
		sign = "-"
	}
	if d.IsNaN() {
		return "NaN"
	}
	if d.IsInfinite() {
		return sign + "Infinity"
	}
	coefficient, exponent := d.parts()
	digits := coefficient.String()
	adjusted := exponent + len(digits) - 1
	switch {
	case exponent > 0 || adjusted < -6:
		point := ""
		if len(digits) > 1 {
			point = "."
		}
		return fmt.Sprintf("%s%s%s%sE%+d", sign, digits[:1], point, digits[1:], adjusted)
	case exponent == 0:
		return sign + digits
	case len(digits) > -exponent:
		return sign + digits[:len(digits)+exponent] + "." + digits[len(digits)+exponent:]
	default:
		return sign + "0." + strings.Repeat("0", -exponent-len(digits)) + digits
	}
}

// ParseDecimal128 reads a number that fits exactly, NaN or Infinity.
func ParseDecimal128(text string) (Decimal128, error) {
	malformed := refused(3000, "%q is no decimal number", text)
	tooLarge := refused(1001, "%q does not fit into a decimal of 34 digits", text)
	rest := strings.TrimPrefix(text, "+")
	rest, isNegative := strings.CutPrefix(rest, "-")
	sign := uint64(0)
	if isNegative {
		sign = decimalSign
	}
	switch strings.ToLower(rest) {
	case "nan":
		return Decimal128{0, decimalNaN}, nil
	case "inf", "infinity":
		return Decimal128{0, decimalInfinity | sign}, nil
	}
	exponent := 0
	if at := strings.IndexAny(rest, "eE"); at >= 0 {
		number, err := strconv.ParseInt(rest[at+1:], 10, 32)
		if err != nil {
			return Decimal128{}, malformed
		}
		rest, exponent = rest[:at], int(number)
	}
	whole, part, _ := strings.Cut(rest, ".")
	digits := whole + part
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return Decimal128{}, malformed
	}
	exponent -= len(part)
	digits = strings.TrimLeft(digits, "0")
	for strings.HasSuffix(digits, "0") && (len(digits) > 34 || exponent < -decimalBias) {
		digits = digits[:len(digits)-1]
		exponent++
	}
	if digits == "" {
		return decimalFrom(isNegative, new(big.Int), min(max(exponent, -decimalBias), 6111)), nil
	}
	for exponent > 6111 && len(digits) < 34 {
		digits += "0"
		exponent--
	}
	if len(digits) > 34 || exponent > 6111 || exponent < -decimalBias {
		return Decimal128{}, tooLarge
	}
	coefficient, _ := new(big.Int).SetString(digits, 10)
	return decimalFrom(isNegative, coefficient, exponent), nil
}
